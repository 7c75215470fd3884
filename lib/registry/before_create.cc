#include "lib/registry/before_write.h"

#include "lib/meta/object_meta.h"
#include "lib/meta/time.h"
#include "lib/meta/uuid.h"
#include "lib/registry/object_meta.h"

namespace apimesh::registry {
namespace {

/// Built-in kinds take no finalizer without a domain but the system's own.
void CheckFinalizerNames(const meta::Object& object, meta::FieldErrors& errors) {
  std::size_t index = 0;
  for (const std::string_view name : Finalizers(object)) {
    const std::string path = meta::Path("metadata").Child("finalizers").Index(index++).ToString();
    if (name.find('/') != std::string_view::npos || name == "kubernetes" || name == "orphan" || name == "foregroundDeletion") continue;
    errors.push_back(meta::Invalid(path, meta::Quoted(name), "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

}  // namespace

void ClearSystemMeta(meta::Object& object) {
  for (const std::string_view field : {"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    object.EraseMeta(field);
  }
}

meta::Result<> BeforeCreate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object, const Sources& sources) {
  object.SetMeta("uid", meta::NewUuid(sources.random));
  object.SetMeta("creationTimestamp", meta::FormatTime(sources.clock->Now()));
  if (object.Name().empty() && !object.GenerateName().empty()) {
    object.SetMeta("name", meta::GenerateName(object.GenerateName(), sources.random));
  }
  if (resource.generation) object.SetMeta("generation", std::int64_t{1});
  strategy.PrepareForCreate(ctx, object);

  const bool namespaced = resource.scope == Scope::kNamespaced;
  meta::FieldErrors errors = meta::ValidateObjectMeta(object.Metadata(), namespaced, resource.validate_name);
  if (!resource.schema->custom) CheckFinalizerNames(object, errors);
  const meta::FieldErrors own = strategy.Validate(ctx, object);
  errors.Append(own);
  // A kind with a looser rule of names still needs one that fits into a path.
  if (errors.empty() && resource.validate_name) errors = meta::ValidateObjectMeta(object.Metadata(), namespaced, meta::NameIsPathSegment);
  if (!errors.empty()) return meta::Invalid(resource.gvk.GroupKind(), object.Name(), errors);

  for (std::string& text : strategy.Warnings(ctx, object, nullptr)) ctx.Warn(std::move(text));
  return {};
}

}  // namespace apimesh::registry
