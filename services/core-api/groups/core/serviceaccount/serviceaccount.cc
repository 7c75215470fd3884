#include "services/core-api/groups/core/serviceaccount/serviceaccount.h"

#include "lib/registry/not_enforced.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/walk.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kEnforceMountable = "kubernetes.io/enforce-mountable-secrets";

/// References to secrets are by name and inside of the namespace.
void KeepNamesOnly(meta::Object& object) {
  for (json::object& secret : Objects(meta::FindField(object.Root(), "secrets"))) {
    const std::string name(meta::FindString(secret, "name"));
    secret.clear();
    if (!name.empty()) secret["name"] = name;
  }
}

class ServiceAccountStrategy final : public registry::Strategy {
 public:
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override { KeepNamesOnly(object); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object&) const override { KeepNamesOnly(object); }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object, const meta::Object* old) const override {
    if (!object.Annotation(kEnforceMountable)) return {};
    std::vector<std::string> warnings = {registry::NotEnforced("kubernetes.io/enforce-mountable-secrets annotations")};
    if (old && old->Annotation(kEnforceMountable)) return warnings;
    warnings.emplace_back(
        "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate "
        "access to mounted secrets");
    return warnings;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) { return {json::string(object.Name()), AgeCell(object, ages)}; }

}  // namespace

registry::Resource ServiceAccountResource() {
  registry::Resource resource = FromTable("", "v1", "serviceaccounts", std::make_shared<ServiceAccountStrategy>());
  resource.table = {{NameColumn(), AgeColumn()}, &Cells,
                    {"metadata.name", "metadata.creationTimestamp"}};
  return resource;
}

}  // namespace apimesh::core_api
