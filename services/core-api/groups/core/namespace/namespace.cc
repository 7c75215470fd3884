#include "services/core-api/groups/core/namespace/namespace.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/names.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kFinalizer = "kubernetes";
constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

const json::array* SpecFinalizers(const meta::Object& object) {
  const json::value* value = meta::Find(object.Root(), "spec", "finalizers");
  return value ? value->if_array() : nullptr;
}

std::string_view Phase(const meta::Object& object) { return meta::FindString(object.Root(), "status", "phase"); }

void SetNameLabel(meta::Object& object) {
  if (!object.Name().empty()) meta::MakeObject(object.Metadata(), "labels")[kNameLabel] = json::string(object.Name());
}

void Keep(std::string_view field, meta::Object& object, const meta::Object& old) {
  if (const json::value* value = meta::FindField(old.Root(), field)) {
    object.Root()[json::string_view(field.data(), field.size())] = *value;
  } else {
    meta::EraseField(object.Root(), field);
  }
}

meta::FieldErrors CheckFinalizers(const meta::Object& object, bool with_index) {
  static constexpr std::string_view kStandard[] = {"kubernetes", "orphan", "foregroundDeletion"};
  meta::FieldErrors errors;
  const json::array* finalizers = SpecFinalizers(object);
  for (std::size_t i = 0; finalizers && i < finalizers->size(); ++i) {
    if (!(*finalizers)[i].is_string()) continue;
    const std::string name((*finalizers)[i].get_string());
    const std::string field = with_index ? fmt::format("spec.finalizers[{}]", i) : "spec.finalizers";
    for (const std::string& complaint : meta::CheckQualifiedName(name)) {
      errors.push_back(meta::Invalid(field, meta::Quoted(name), complaint));
    }
    if (name.find('/') == std::string::npos &&
        std::find(std::begin(kStandard), std::end(kStandard), name) == std::end(kStandard)) {
      errors.push_back(meta::Invalid(field, meta::Quoted(name),
                                     "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  return errors;
}

/// The strategy of the resource itself. Its updates cannot change spec.finalizers and status, which belong to the
/// server and to the subresources.
class NamespaceStrategy : public registry::Strategy {
 public:
  void Default(json::object& object) const override {
    const std::string name(meta::FindString(object, "metadata", "name"));
    if (name.empty()) return;
    meta::MakeObject(meta::MakeObject(object, "metadata"), "labels")[kNameLabel] = name;
  }
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    object.Root()["status"] = {{"phase", "Active"}};
    json::value& value = meta::MakeObject(object.Root(), "spec")["finalizers"];
    if (!value.is_array()) value.emplace_array();
    json::array& finalizers = value.get_array();
    if (std::find(finalizers.begin(), finalizers.end(), json::value(kFinalizer)) == finalizers.end()) {
      finalizers.emplace_back(kFinalizer);
    }
    SetNameLabel(object);
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return CheckFinalizers(object, false);
  }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    Keep("spec", object, old);
    Keep("status", object, old);
    SetNameLabel(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return CheckFinalizers(object, false);
  }
  bool HoldsBackDeletion(const meta::Object& object) const override {
    const json::array* finalizers = SpecFinalizers(object);
    return finalizers && !finalizers->empty();
  }
  void PrepareForDelete(meta::Object& object) const override {
    meta::MakeObject(object.Root(), "status")["phase"] = "Terminating";
  }
};

class NamespaceStatusStrategy final : public NamespaceStrategy {
 public:
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    Keep("spec", object, old);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    const bool deleting = !object.DeletionTimestamp().empty();
    if (Phase(object) == (deleting ? "Terminating" : "Active")) return {};
    return {meta::Invalid("status.Phase", meta::Quoted(Phase(object)),
                          deleting ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                                   : "may only be 'Active' if `deletionTimestamp` is empty")};
  }
};

class NamespaceFinalizeStrategy final : public NamespaceStrategy {
 public:
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    Keep("status", object, old);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return CheckFinalizers(object, true);
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), json::string(Phase(object)), AgeCell(object, ages)};
}

}  // namespace

registry::Resource NamespaceResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "namespaces");
  resource.strategy = std::make_shared<NamespaceStrategy>();
  resource.validate_name = meta::NameIsDnsLabel;
  resource.namespace_is_name = true;
  resource.returns_deleted_object = true;
  resource.reset_fields = {"status"};
  resource.selectable_fields = {"status.phase"};
  for (registry::Subresource& subresource : resource.subresources) {
    if (subresource.name == "status") subresource.strategy = std::make_shared<NamespaceStatusStrategy>();
    if (subresource.name == "finalize") {
      subresource.strategy = std::make_shared<NamespaceFinalizeStrategy>();
      subresource.reset_fields = {"status"};
    }
  }
  resource.table = {{NameColumn(), {.name = "Status", .description = "Active or Terminating."}, AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "status.phase"}};
  return resource;
}

}  // namespace apimesh::core_api
