#include "lib/admission/matching/versioned_objects.h"

#include <fmt/format.h>

namespace apimesh::admission::matching {

Task<meta::Result<std::optional<meta::Object>>> VersionedObjects::Convert(meta::RequestContext ctx,
                                                                          const meta::Object* object,
                                                                          meta::Gvk kind) const {
  if (!object) co_return std::optional<meta::Object>();
  if (!attributes_.versions) co_return meta::InternalError(fmt::format("no conversion to {}", kind.ToString()));
  meta::Result<meta::Object> converted = co_await attributes_.versions->Convert(std::move(ctx), *object, kind);
  if (!converted) co_return meta::InternalError(converted.error().Message());
  co_return std::optional<meta::Object>(std::move(*converted));
}

Task<meta::Result<VersionedObjects::Pair>> VersionedObjects::In(meta::RequestContext ctx, meta::Gvk kind) {
  if (kind == attributes_.kind) co_return Pair{attributes_.object, attributes_.old_object};
  auto found = converted_.find(kind);
  if (found == converted_.end()) {
    Converted made;
    ASSIGN_OR_CO_RETURN(made.object, co_await Convert(ctx, attributes_.object, kind));
    ASSIGN_OR_CO_RETURN(made.old_object, co_await Convert(ctx, attributes_.old_object, kind));
    found = converted_.emplace(kind, std::move(made)).first;
  }
  const Converted& pair = found->second;
  co_return Pair{pair.object ? &*pair.object : nullptr, pair.old_object ? &*pair.old_object : nullptr};
}

}  // namespace apimesh::admission::matching
