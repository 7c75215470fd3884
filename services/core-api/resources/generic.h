#pragma once

#include <string_view>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// A built-in resource as the tables and its schema describe it: names, verbs, storage, subresources, and a strategy that
/// splits spec from status where the kind has a status subresource. Kinds with more to say begin with this and change it.
/// `strategy` replaces that one, also behind /status and /scale. Throws std::logic_error if there is no such row.
registry::Resource FromTable(std::string_view group, std::string_view version, std::string_view resource,
                             registry::StrategyPtr strategy = nullptr);

/// Throws std::logic_error if the resource has no such subresource.
registry::Subresource& SubresourceOf(registry::Resource& resource, std::string_view name);

}  // namespace apimesh::core_api
