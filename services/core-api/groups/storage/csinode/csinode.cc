#include "services/core-api/groups/storage/csinode/csinode.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Names = std::set<std::string_view>;

constexpr std::size_t kMaxNodeId = 256;

void ValidateDriverOfNode(const Check& driver, Names& names) {
  ValidateCsiDriverName(driver, "name");
  driver.Require("nodeID");
  if (driver.Text("nodeID").size() > kMaxNodeId)
    driver.Invalid("nodeID", fmt::format("must be {} characters or less", kMaxNodeId));
  if (const std::optional<Check> allocatable = driver.Child("allocatable")) allocatable->NonNegative("count");
  if (!names.insert(driver.Text("name")).second)
    driver.Add(meta::Duplicate(driver.Path().Child("name").ToString(), meta::Quoted(driver.Text("name"))));
  Names keys;
  for (const std::string_view key : TextsOf(driver, "topologyKeys")) {
    const std::string path = driver.Path().ToString();
    if (key.empty()) driver.Add(meta::Required(path, ""));
    if (!keys.insert(key).second) driver.Add(meta::Duplicate(path, meta::Quoted(key)));
    CheckText(driver, driver.Path(), key, meta::CheckQualifiedName);
  }
}

json::object WithoutAllocatable(const Check& driver) {
  json::object copy = driver.Object();
  meta::EraseField(copy, "allocatable");
  return copy;
}

class CsiNodeStrategy final : public registry::Strategy {
 public:
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override { ClearEmptyList(object); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object&) const override {
    ClearEmptyList(object);
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    Names names;
    for (const Check& driver : SpecOf(object, errors).Each("drivers")) ValidateDriverOfNode(driver, names);
    return errors;
  }
  /// The drivers of a node cannot change, but their number of volumes can, and drivers can come and go.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    const Check spec = SpecOf(object, errors), old_spec = SpecOf(old, errors);
    for (const Check& before : old_spec.Each("drivers")) {
      for (const Check& now : spec.Each("drivers")) {
        if (now.Text("name") != before.Text("name")) continue;
        const json::object copy = WithoutAllocatable(now);
        if (meta::Equal(copy, WithoutAllocatable(before))) continue;
        const json::value shown(copy);
        errors.push_back(meta::Invalid("spec.drivers", Shown(&shown), "field is immutable"));
      }
    }
    return errors;
  }
  bool AllowUnconditionalUpdate() const override { return false; }

 private:
  /// An empty list of drivers is null in the responses of kube-apiserver, because its store has no empty lists.
  static void ClearEmptyList(meta::Object& object) {
    json::value* drivers = meta::Find(object.Root(), "spec", "drivers");
    if (drivers && drivers->is_array() && drivers->get_array().empty()) *drivers = nullptr;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  meta::FieldErrors ignored;
  return {json::string(object.Name()), SpecOf(object, ignored).Each("drivers").size(), AgeCell(object, ages)};
}

}  // namespace

registry::Resource CsiNodeResource(const KindInputs&) {
  registry::Resource resource = FromTable("storage.k8s.io", "v1", "csinodes", std::make_shared<CsiNodeStrategy>());
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(), IntegerColumn("Drivers", "Number of CSI drivers on the node."), AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.drivers"}};
  return resource;
}

}  // namespace apimesh::core_api
