#include "lib/endpoint/served_versions.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/storage_config.h"
#include "lib/schema/defaults.h"

namespace apimesh::endpoint {

namespace json = meta::json;

std::string IdentityOf(const registry::Resource& resource) {
  if (!resource.storage_prefix.empty()) return resource.storage_prefix;
  return fmt::format("{}/{}", resource.gvk.group, resource.plural);
}

const std::vector<ServedVersions::Version>& ServedVersions::Equivalents(std::string_view subresource) const {
  std::call_once(listed_, [this] {
    for (const ServedResourcePtr& served : resources_) {
      const registry::Resource& resource = served->resource;
      by_subresource_[""].push_back({resource.GetGvr(), resource.gvk});
      for (const registry::Subresource& one : resource.subresources) {
        by_subresource_[one.name].push_back({resource.GetGvr(), one.kind.kind.empty() ? resource.gvk : one.kind});
      }
    }
  });
  static const std::vector<Version> none;
  const auto found = by_subresource_.find(subresource);
  return found == by_subresource_.end() ? none : found->second;
}

meta::Result<ServedVersions::Kind> ServedVersions::FindKind(const meta::Gvk& kind) const {
  for (const ServedResourcePtr& served : resources_) {
    const registry::Resource& resource = served->resource;
    if (resource.gvk == kind) return Kind{served.get(), resource.schema, resource.strategy.get()};
    for (const registry::Subresource& one : resource.subresources) {
      if (one.kind == kind && one.schema) return Kind{nullptr, one.schema, nullptr};
    }
  }
  return meta::InternalError(fmt::format("no kind {} is served with this resource", kind.ToString()));
}

Task<meta::Result<meta::Object>> ServedVersions::Convert(meta::RequestContext ctx, meta::Object object,
                                                         meta::Gvk kind) const {
  if (object.GetGvk() == kind) co_return object;
  ASSIGN_OR_CO_RETURN(const Kind from, FindKind(object.GetGvk()));
  ASSIGN_OR_CO_RETURN(const Kind to, FindKind(kind));
  if (!from.served || !to.served) co_return meta::InternalError(fmt::format("no conversion to {}", kind.ToString()));
  if (from.served->convert) co_return co_await from.served->convert(std::move(ctx), std::move(object), kind);
  CO_RETURN_IF_ERROR(ConvertVersion(object, from.served->resource, to.served->resource));
  co_return object;
}

meta::Result<meta::Object> ServedVersions::Complete(json::object document, const meta::Gvk& kind) const {
  ASSIGN_OR_RETURN(const Kind known, FindKind(kind));
  meta::Object object(std::move(document));
  if (object.GetGvk() != kind) {
    return meta::InternalError(fmt::format("the object is {}, not {}", object.GetGvk().ToString(), kind.ToString()));
  }
  RETURN_IF_ERROR(codec::Normalise(object.Root(), *known.node, nullptr));
  if (!schema::ApplyDefaults(object.Root(), *known.node)) return codec::TooLargeToStore();
  if (known.strategy) known.strategy->Default(object.Root());
  return object;
}

meta::Result<std::string> ServedVersions::ToJson(const meta::Object& object) const {
  ASSIGN_OR_RETURN(const Kind known, FindKind(object.GetGvk()));
  meta::Object copy = object;
  RETURN_IF_ERROR(codec::Normalise(copy.Root(), *known.node, nullptr));
  return codec::WriteJson(copy.Root());
}

const schema::Node* ServedVersions::SchemaOf(const meta::Gvk& kind) const {
  const meta::Result<Kind> known = FindKind(kind);
  return known ? known->node : nullptr;
}

}  // namespace apimesh::endpoint
