#pragma once

#include "lib/registry/resource.h"

namespace apimesh::aggregator {

/// The kind APIService of apiregistration.k8s.io/v1.
registry::Resource ApiServiceResource(const Clock& clock);

/// Sets the condition Available. Returns false if the condition already has these values.
bool SetAvailable(meta::Object& api_service, std::string_view status, std::string_view reason, std::string_view message,
                  WallTime now);
bool IsAvailable(const meta::Object& api_service);
/// Whether requests go to a service in the cluster.
bool IsExternal(const meta::Object& api_service);
/// Whether a server of the chain serves the group-version: the APIService names neither a service nor a gRPC endpoint.
bool IsLocal(const meta::Object& api_service);

}  // namespace apimesh::aggregator
