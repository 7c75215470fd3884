#include "services/core-api/groups/storage/storageclass/storageclass.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/node/deprecated_labels.h"
#include "services/core-api/groups/storage/class_rules.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Values = std::set<std::string_view>;

Values ValidateTopologyRequirement(const Check& requirement) {
  const meta::Path path = requirement.Path().Child("values");
  const std::vector<std::string_view> texts = TextsOf(requirement, "values");
  if (texts.empty()) requirement.Add(meta::Required(path.ToString(), ""));
  Values values;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!values.insert(texts[i]).second)
      requirement.Add(meta::Duplicate(path.Index(i).ToString(), meta::Quoted(texts[i])));
  }
  CheckText(requirement, requirement.Path().Child("key"), requirement.Text("key"), meta::CheckQualifiedName);
  return values;
}

void ValidateTopologies(const Check& root) {
  std::map<std::map<std::string_view, Values>, std::size_t> terms;  // how often each occurred
  for (const Check& term : root.Each("allowedTopologies")) {
    std::map<std::string_view, Values> keys;
    for (const Check& requirement : term.Each("matchLabelExpressions")) {
      Values values = ValidateTopologyRequirement(requirement);
      const std::string_view key = requirement.Text("key");
      if (keys.contains(key))
        requirement.Add(meta::Duplicate(requirement.Path().Child("key").ToString(), meta::Quoted(key)));
      keys[key] = std::move(values);
    }
    // kube-apiserver also compares each term with as many empty terms as the list has terms.
    std::size_t same = keys.empty() ? SizeOf(root, "allowedTopologies") : 0;
    same += terms[std::move(keys)]++;
    for (std::size_t i = 0; i < std::min(same, meta::FieldErrors::kMaxErrors); ++i)
      term.Add(meta::Duplicate(term.Path().Child("matchLabelExpressions").ToString(), "\"\""));
  }
}

class StorageClassStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    ValidateDriver(root, "provisioner");
    ValidateParameters(root);
    root.OneOf("reclaimPolicy", {"Delete", "Retain"});
    const std::string_view mode = root.Text("volumeBindingMode");
    if (mode != "Immediate" && mode != "WaitForFirstConsumer")
      errors.push_back(
          meta::NotSupported("volumeBindingMode", meta::Quoted(mode), {"Immediate", "WaitForFirstConsumer"}));
    ValidateTopologies(root);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    for (const char* field : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
      ValidateImmutableAtRoot(field, object, old, errors);
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    meta::FieldErrors ignored;
    const Check root(object.Root(), meta::Path(), ignored);
    for (const Check& term : root.Each("allowedTopologies")) {
      for (const Check& requirement : term.Each("matchLabelExpressions")) {
        const std::string_view why = DeprecatedNodeLabel(requirement.Text("key"));
        if (!why.empty()) warnings.push_back(fmt::format("{}: {}", requirement.Path().Child("key").ToString(), why));
      }
    }
    return warnings;
  }
};

bool IsDefault(const meta::Object& object) {
  for (const char* key :
       {"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}) {
    const json::value* value = FindAnnotation(object, key);
    if (value && value->is_string() && value->get_string() == "true") return true;
  }
  return false;
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* expands = meta::FindField(root, "allowVolumeExpansion");
  return {std::string(object.Name()) + (IsDefault(object) ? " (default)" : ""),
          TextCell(meta::FindString(root, "provisioner")),
          TextCell(meta::FindString(root, "reclaimPolicy"), "Delete"),
          TextCell(meta::FindString(root, "volumeBindingMode"), "Immediate"),
          expands && expands->is_bool() && expands->get_bool(),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource StorageClassResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("storage.k8s.io", "v1", "storageclasses", std::make_shared<StorageClassStrategy>());
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(),
                     {.name = "Provisioner", .description = "The provisioner of the volumes."},
                     {.name = "ReclaimPolicy", .description = "Reclaim policy of the volumes."},
                     {.name = "VolumeBindingMode", .description = "When volumes are provisioned and bound."},
                     {.name = "AllowVolumeExpansion", .description = "Whether volumes can be expanded."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "metadata.annotations", "provisioner",
                     "reclaimPolicy", "volumeBindingMode", "allowVolumeExpansion"}};
  return resource;
}

}  // namespace apimesh::core_api
