#include "services/core-api/groups/core/serviceaccount/serviceaccount.h"

#include "lib/meta/names.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/authentication/token_request.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kEnforceMountable = "kubernetes.io/enforce-mountable-secrets";

/// Reduces references to secrets to the name: they refer to the same namespace.
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
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object&) const override {
    KeepNamesOnly(object);
  }
  /// kube-apiserver validates the metadata of a service account once more than that of most other kinds.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return meta::ValidateObjectMeta(object.Metadata(), true, meta::NameIsDnsSubdomain);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    if (!object.Annotation(kEnforceMountable) || (old && old->Annotation(kEnforceMountable))) return {};
    return {
        "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate "
        "namespaces to isolate "
        "access to mounted secrets"};
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), AgeCell(object, ages)};
}

}  // namespace

registry::Resource ServiceAccountResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "serviceaccounts", std::make_shared<ServiceAccountStrategy>());
  resource.table = {{NameColumn(), AgeColumn()}, &Cells, {"metadata.name", "metadata.creationTimestamp"}};
  resource.returns_deleted_object = true;
  const std::optional<TokenIssuer> issuer = MakeTokenIssuer(inputs.flags, inputs.token_signer);
  if (issuer) {
    SubresourceOf(resource, "token").create = TokenRequestAction(*issuer, inputs.api.read, inputs.clock);
  } else {  // without a signing key no tokens are issued, and the path is not served
    std::erase_if(resource.subresources, [](const registry::Subresource& one) { return one.name == "token"; });
  }
  return resource;
}

}  // namespace apimesh::core_api
