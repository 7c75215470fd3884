#include "services/core-api/groups/certificates/clustertrustbundle/clustertrustbundle.h"

#include "lib/credentials/certificate_request.h"
#include "services/core-api/groups/certificates/signers/signers.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxBundleBytes = 1024 * 1024;

meta::FieldErrors ValidateBundle(const meta::Object& object, bool parse) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(object, errors);
  const std::string_view signer = spec.Text("signerName"), bundle = spec.Text("trustBundle");
  for (std::string& complaint : CheckTrustBundleName(object.Name(), signer)) {
    errors.push_back(meta::Invalid("metadata.name", meta::Quoted(object.Name()), std::move(complaint)));
  }
  if (!signer.empty()) CheckSignerName("spec.signerName", signer, errors);
  if (!parse) return errors;
  if (bundle.size() > kMaxBundleBytes) {
    errors.push_back(meta::TooLong("spec.trustBundle", kMaxBundleBytes));
    return errors;
  }
  for (std::string& problem : credentials::CheckTrustAnchors(bundle)) {
    errors.push_back(meta::Invalid("spec.trustBundle", meta::Quoted("<value omitted>"), std::move(problem)));
  }
  return errors;
}

class TrustBundleStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateBundle(object, true);
  }
  /// A bundle that does not change is not parsed again.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    const bool changed =
        meta::FindString(object.Root(), "spec", "trustBundle") != meta::FindString(old.Root(), "spec", "trustBundle");
    meta::FieldErrors errors = ValidateBundle(object, changed);
    ValidateImmutable("signerName", SpecOf(object, errors), old);
    return errors;
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

json::array Cells(const meta::Object& object, meta::Ages&) {
  return {json::string(object.Name()), TextCell(meta::FindString(object.Root(), "spec", "signerName"), "<none>")};
}

}  // namespace

registry::Resource ClusterTrustBundleResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("certificates.k8s.io", "v1beta1", "clustertrustbundles", std::make_shared<TrustBundleStrategy>());
  // The rule for names depends on the spec, so that the strategy checks it.
  resource.validate_name = [](std::string_view, bool) { return meta::Complaints(); };
  resource.selectable_fields = {"spec.signerName"};
  resource.table = {{NameColumn(), {.name = "SignerName", .description = "The signer of the bundle."}},
                    &Cells,
                    {"metadata.name", "spec.signerName"}};
  return resource;
}

}  // namespace apimesh::core_api
