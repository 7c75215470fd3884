#include "services/extensions-api/crd/crd_resource.h"

#include <algorithm>
#include <optional>

#include "lib/base/text/text.h"
#include "lib/registry/object_meta.h"
#include "lib/registry/status_strategy.h"
#include "lib/schema/builtin.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/rules.h"
#include "services/extensions-api/crd/stored_v1beta1.h"
#include "services/extensions-api/crd/version_rules.h"
#include "services/extensions-api/crd/warnings/format_warnings.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

std::optional<std::string> StorageVersion(const json::object& root) {
  const json::value* versions = meta::Find(root, "spec", "versions");
  if (!versions || !versions->is_array()) return std::nullopt;
  for (const json::value& one : versions->get_array()) {
    const json::value* storage = one.is_object() ? meta::FindField(one.get_object(), "storage") : nullptr;
    if (storage && storage->is_bool() && storage->get_bool())
      return std::string(meta::FindString(one.get_object(), "name"));
  }
  return std::nullopt;
}

/// Adds the storage version to status.storedVersions, even if its name is empty.
void NoteStorageVersion(json::object& root) {
  const std::optional<std::string> name = StorageVersion(root);
  if (!name) return;
  json::value& stored = meta::MakeObject(root, "status")["storedVersions"];
  if (!stored.is_array()) stored.emplace_array();
  json::array& list = stored.get_array();
  if (std::find(list.begin(), list.end(), json::value(*name)) == list.end()) list.emplace_back(*name);
}

class CrdStrategy final : public registry::SpecStrategy {
 public:
  explicit CrdStrategy(const Clock& clock) : clock_(clock) {}

  void Default(json::object& root) const override {
    json::object& spec = meta::MakeObject(root, "spec");
    json::object& names = meta::MakeObject(spec, "names");
    const std::string kind(meta::FindString(names, "kind"));
    if (meta::FindString(names, "singular").empty() && !kind.empty()) names["singular"] = LowerCase(kind);
    if (meta::FindString(names, "listKind").empty() && !kind.empty()) names["listKind"] = kind + "List";
    const json::value* conversion = meta::FindField(spec, "conversion");
    if (!conversion || !conversion->is_object()) spec["conversion"] = {{"strategy", "None"}};
    const json::value* stored = meta::Find(root, "status", "storedVersions");
    if (!stored || !stored->is_array() || stored->get_array().empty()) NoteStorageVersion(root);
  }
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    SpecStrategy::PrepareForCreate(ctx, object);
    NoteStorageVersion(object.Root());
  }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    SpecStrategy::PrepareForUpdate(ctx, object, old);
    NoteStorageVersion(object.Root());
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateCrd(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateCrdUpdate(object, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    return FormatWarnings(object, old);
  }
  bool AllowUnconditionalUpdate() const override { return false; }

  /// The first deletion only sets the deletion timestamp, because the objects are deleted before the definition.
  bool HoldsBackDeletion(const meta::Object& object) const override { return object.DeletionTimestamp().empty(); }
  void PrepareForDelete(meta::Object& object) const override {
    if (!HasCleanupFinalizer(object)) {
      std::vector<std::string> finalizers = registry::Finalizers(object);
      finalizers.emplace_back(kCleanupFinalizer);
      registry::SetFinalizers(object, finalizers);
    }
    SetCondition(object,
                 {"Terminating", "True", "InstanceDeletionPending",
                  "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"},
                 clock_.Now());
  }

 private:
  const Clock& clock_;
};

class CrdStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return ValidateCrdStatus(object);
  }
};

}  // namespace

registry::Resource CrdResource(const Clock& clock) {
  registry::Resource resource;
  resource.gvk = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
  resource.plural = "customresourcedefinitions";
  resource.singular = "customresourcedefinition";
  resource.short_names = {"crd", "crds"};
  resource.categories = {"api-extensions"};
  resource.scope = registry::Scope::kCluster;
  resource.verbs = meta::kStoredResourceVerbs;
  resource.schema = schema::Builtin().FindKind(resource.gvk);
  resource.strategy = std::make_shared<CrdStrategy>(clock);
  resource.reset_fields = {"status"};
  registry::Subresource status = registry::MakeStatusSubresource(resource.strategy);
  status.strategy = std::make_shared<CrdStatusStrategy>(resource.strategy);
  resource.subresources.push_back(std::move(status));
  resource.storage_prefix = "apiextensions.k8s.io/customresourcedefinitions";
  resource.storage_gvk = resource.gvk;
  resource.from_stored = &FromStoredV1beta1;
  resource.generation = true;
  resource.returns_deleted_object = true;
  return resource;
}

}  // namespace apimesh::extensions_api
