#pragma once

#include <string_view>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Returns a built-in resource as the table (data/resources.tsv) and its schema describe it: names, verbs, storage,
/// subresources. A kind with its own folder starts with this and changes what is different. `strategy` is also used for
/// /status and /scale. Without a strategy, the only rule is that clients cannot write the status through the resource
/// if it has a status subresource. Throws std::logic_error if the table has no such row.
registry::Resource FromTable(std::string_view group, std::string_view version, std::string_view resource,
                             registry::StrategyPtr strategy = nullptr);

/// Throws std::logic_error if the resource has no such subresource.
registry::Subresource& SubresourceOf(registry::Resource& resource, std::string_view name);

}  // namespace apimesh::core_api
