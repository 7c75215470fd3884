#include "lib/admission/plugins/node_restriction/cluster_reader.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/fields.h"

namespace apimesh::admission::node_restriction {

Task<meta::Result<meta::Object>> ClusterReader::Get(meta::RequestContext ctx, ReadResource resource, std::string ns,
                                                    std::string name) const {
  if (!objects_) co_return PlainError(fmt::format("{} cannot be read here", resource.plural));
  const meta::ApiError not_found = meta::NotFound(meta::GroupResource{resource.group, resource.singular}, name);
  const meta::Gvr wanted{resource.group, "v1", resource.plural};
  const meta::Result<ObjectPtr> found =
      co_await objects_->Get(std::move(ctx), wanted, std::move(ns), std::move(name), Read::kCachedElseNewest);
  if (!found) co_return found.error().Is(meta::Reason::kNotFound) ? not_found : found.error();
  co_return meta::Object(**found);
}

}  // namespace apimesh::admission::node_restriction
