#pragma once

#include "lib/registry/resource.h"

namespace apimesh::aggregator {

/// The kind APIService of apiregistration.k8s.io/v1.
registry::Resource ApiServiceResource();

/// Sets the condition Available. False: it was like that already.
bool SetAvailable(meta::Object& api_service, std::string_view status, std::string_view reason, std::string_view message, WallTime now);
bool IsAvailable(const meta::Object& api_service);
/// Whether requests go to a service in the cluster; otherwise a server of the chain has the group-version.
bool IsExternal(const meta::Object& api_service);

}  // namespace apimesh::aggregator
