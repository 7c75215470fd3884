#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "lib/registry/before_write.h"
#include "lib/registry/error_kind.h"
#include "lib/registry/object_meta.h"

namespace apimesh::registry {
namespace {

namespace json = meta::json;

/// Compares all fields except metadata and status, because changes of those do not increment the generation.
bool SameDesiredState(const json::object& a, const json::object& b) {
  const auto counts = [](std::string_view key) {
    return key != "metadata" && key != "status" && key != "kind" && key != "apiVersion";
  };
  std::size_t fields = 0;
  for (const auto& [key, value] : a) {
    if (!counts(key)) continue;
    ++fields;
    const json::value* other = b.if_contains(key);
    if (!other || !meta::SameText(*other, value)) return false;
  }
  for (const auto& [key, value] : b) fields -= counts(key) ? 1 : 0;
  return fields == 0;
}

void CopyMeta(std::string_view field, meta::Object& object, const meta::Object& old) {
  if (const json::value* value = meta::FindField(old.Metadata(), field)) {
    object.Metadata()[json::string_view(field.data(), field.size())] = *value;
  }
}

}  // namespace

meta::Result<> BeforeUpdate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object, const meta::Object& old, bool subresource) {
  if (old.Generation() != 0) {
    object.SetMeta("generation", old.Generation());
  } else {
    object.EraseMeta("generation");
  }
  strategy.PrepareForUpdate(ctx, object, old);
  if (resource.generation && !subresource && object.Generation() == old.Generation() &&
      !SameDesiredState(object.Root(), old.Root())) {
    object.SetMeta("generation", old.Generation() + 1);
  }

  if (object.Uid().empty()) CopyMeta("uid", object, old);
  CopyMeta("creationTimestamp", object, old);
  CopyMeta("deletionTimestamp", object, old);
  if (!meta::FindField(object.Metadata(), "deletionGracePeriodSeconds"))
    CopyMeta("deletionGracePeriodSeconds", object, old);

  const bool namespaced = resource.scope == Scope::kNamespaced;
  meta::FieldErrors errors = meta::ValidateObjectMeta(object.Metadata(), namespaced, meta::NameIsPathSegment);
  // kube-apiserver validates the metadata once in its generic code and once in the strategy, so these errors occur
  // twice.
  const meta::FieldErrors changes = meta::ValidateObjectMetaUpdate(object.Metadata(), old.Metadata());
  if (std::optional<meta::ApiError> wrong = WrongKind(resource, object, changes)) return *wrong;
  for (const meta::FieldErrors& more : {changes, changes, strategy.ValidateUpdate(ctx, object, old)}) {
    errors.Append(more);
  }
  if (!errors.empty()) return meta::Invalid(KindOfErrors(resource), object.Name(), errors);

  for (std::string& text : strategy.Warnings(ctx, object, &old)) ctx.Warn(std::move(text));
  return {};
}

bool DeletesDuringUpdate(const Strategy& strategy, const meta::Object& object, const meta::Object& old) {
  if (!Finalizers(object).empty() || old.DeletionTimestamp().empty() || strategy.HoldsBackDeletion(object))
    return false;
  const json::value* grace = meta::FindField(old.Metadata(), "deletionGracePeriodSeconds");
  return !grace || (grace->is_int64() && grace->get_int64() == 0);
}

}  // namespace apimesh::registry
