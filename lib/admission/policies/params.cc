#include "lib/admission/policies/params.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/owner_references_permission_enforcement/owner_resources.h"

namespace apimesh::admission::policies {
namespace {

Task<meta::Result<std::vector<ObjectPtr>>> ReadParams(meta::RequestContext ctx, ObjectsPtr objects,
                                                      ParamResource resource, const json::object& ref, std::string ns) {
  const std::string name(meta::FindString(ref, "name"));
  std::vector<ObjectPtr> params;
  if (!name.empty()) {
    const meta::Result<ObjectPtr> found = co_await objects->Get(ctx, resource.resource, ns, name, Read::kCached);
    if (found) {
      params.push_back(*found);
    } else if (!found.error().Is(meta::Reason::kNotFound)) {
      co_return found.error();
    }
    co_return params;
  }
  if (!Has(ref, "selector")) co_return PlainError("one of name or selector must be provided");
  ASSIGN_OR_CO_RETURN(const meta::LabelSelector selector, meta::LabelSelector::FromObject(ObjectAt(ref, "selector")));
  co_return co_await objects->List(ctx, resource.resource, ns, selector, Read::kCached);
}

}  // namespace

Task<meta::Result<std::optional<ParamResource>>> FindParamResource(meta::RequestContext ctx, ObjectsPtr objects,
                                                                   const Policy& policy) {
  if (!policy.param_kind) co_return std::optional<ParamResource>();
  const ParamKind kind = *policy.param_kind;
  const meta::Result<owner_references::OwnerResource> found =
      co_await owner_references::FindResource(ctx, objects, kind.api_version, kind.kind);
  if (found) co_return std::optional<ParamResource>(ParamResource{found->resource, found->namespaced});
  const meta::GroupVersion version = meta::GroupVersion::Parse(kind.api_version);
  const meta::Gvk gvk{version.group, version.version, kind.kind};
  co_return PlainError(fmt::format("failed to find resource referenced by paramKind: '{}'", gvk.ToString()));
}

Task<meta::Result<std::vector<ObjectPtr>>> CollectParams(meta::RequestContext ctx, ObjectsPtr objects,
                                                         std::optional<ParamResource> resource, const Binding& binding,
                                                         std::string ns) {
  if (!resource || !binding.param_ref) co_return std::vector<ObjectPtr>{nullptr};
  const json::object& ref = *binding.param_ref;
  std::string params_ns(meta::FindString(ref, "namespace"));
  if (resource->namespaced) {
    if (params_ns.empty()) params_ns = std::move(ns);
    if (params_ns.empty()) {
      co_return PlainError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
    }
  } else if (!params_ns.empty()) {
    co_return PlainError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  ASSIGN_OR_CO_RETURN(std::vector<ObjectPtr> params,
                      co_await ReadParams(std::move(ctx), std::move(objects), *resource, ref, std::move(params_ns)));
  if (params.empty() && meta::FindString(ref, "parameterNotFoundAction") == "Deny") {
    co_return PlainError("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  co_return params;
}

}  // namespace apimesh::admission::policies
