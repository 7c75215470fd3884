#include "lib/meta/object_meta.h"
#include "lib/meta/time.h"
#include "lib/meta/uuid.h"
#include "lib/registry/before_write.h"
#include "lib/registry/error_kind.h"
#include "lib/registry/object_meta.h"

namespace apimesh::registry {
namespace {

/// Checks that each finalizer name contains a slash or is one of the standard finalizer names. Custom resources are
/// exempt.
void CheckFinalizerNames(const meta::Object& object, meta::FieldErrors& errors) {
  const meta::json::value* finalizers = meta::FindField(object.Metadata(), "finalizers");
  if (!finalizers || !finalizers->is_array()) return;
  const meta::Path list = meta::Path("metadata").Child("finalizers");
  std::size_t index = 0;
  for (const meta::json::value& finalizer : finalizers->get_array()) {
    if (errors.Full()) return;
    if (!finalizer.is_string()) continue;
    const std::string_view name = finalizer.get_string();
    const std::size_t at = index++;
    if (name.find('/') != std::string_view::npos || name == "kubernetes" || name == "orphan" ||
        name == "foregroundDeletion")
      continue;
    errors.push_back(meta::Invalid(list.Index(at).ToString(), meta::Quoted(name),
                                   "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

/// Checks that the name is a valid path segment, for kinds whose own rule for names is less strict.
void CheckPathSegments(const meta::Object& object, meta::FieldErrors& errors) {
  const meta::Path metadata("metadata");
  const auto check = [&](std::string_view field, std::string_view name, bool prefix) {
    for (std::string& complaint : meta::NameIsPathSegment(name, prefix)) {
      errors.push_back(meta::Invalid(metadata.Child(field).ToString(), meta::Quoted(name), std::move(complaint)));
    }
  };
  if (!object.GenerateName().empty()) check("generateName", object.GenerateName(), true);
  check("name", object.Name(), false);
}

}  // namespace

void ClearSystemMeta(meta::Object& object) {
  for (const std::string_view field :
       {"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    object.EraseMeta(field);
  }
}

void FillSystemMeta(meta::Object& object, const Sources& sources) {
  object.SetMeta("uid", meta::NewUuid(sources.random));
  object.SetMeta("creationTimestamp", meta::FormatTime(sources.clock->Now()));
  if (object.Name().empty() && !object.GenerateName().empty()) {
    object.SetMeta("name", meta::GenerateName(object.GenerateName(), sources.random));
  }
}

meta::Result<> BeforeCreate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object) {
  if (resource.generation) object.SetMeta("generation", std::int64_t{1});
  strategy.PrepareForCreate(ctx, object);
  if (std::optional<meta::ApiError> wrong = WrongKind(resource, object)) return *wrong;

  const bool namespaced = resource.scope == Scope::kNamespaced;
  meta::FieldErrors errors = meta::ValidateObjectMeta(object.Metadata(), namespaced, resource.validate_name);
  if (!resource.schema->custom) CheckFinalizerNames(object, errors);
  const meta::FieldErrors own = strategy.Validate(ctx, object);
  errors.Append(own);
  if (errors.empty() && resource.validate_name) CheckPathSegments(object, errors);
  if (!errors.empty()) return meta::Invalid(KindOfErrors(resource), object.Name(), errors);

  for (std::string& text : strategy.Warnings(ctx, object, nullptr)) ctx.Warn(std::move(text));
  return {};
}

}  // namespace apimesh::registry
