#pragma once

#include "lib/registry/resource.h"

namespace apimesh::registry {

/// Returns the kind that validation errors name. Like kube-apiserver's, they name the kind as it is stored, which has
/// another group for events.
inline meta::GroupKind KindOfErrors(const Resource& resource) {
  return resource.storage_gvk.kind.empty() ? resource.gvk.GroupKind() : resource.storage_gvk.GroupKind();
}

/// Returns the error of a custom resource whose kind or apiVersion is not that of its resource, or nothing. Those of
/// other resources are checked when their bodies are decoded.
inline std::optional<meta::ApiError> WrongKind(const Resource& resource, const meta::Object& object,
                                               meta::FieldErrors errors = {}) {
  const std::string api_version = resource.gvk.ApiVersion();
  const bool other_kind = object.Kind() != resource.gvk.kind, other_version = object.ApiVersion() != api_version;
  if (!resource.schema->custom || !(other_kind || other_version)) return std::nullopt;
  if (other_kind) errors.push_back(meta::Invalid("kind", meta::Quoted(object.Kind()), "must be " + resource.gvk.kind));
  if (other_version)
    errors.push_back(meta::Invalid("apiVersion", meta::Quoted(object.ApiVersion()), "must be " + api_version));
  return meta::Invalid({resource.gvk.group, std::string(object.Kind())}, object.Name(), errors);
}

}  // namespace apimesh::registry
