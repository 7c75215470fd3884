#include "services/core-api/groups/certificates/podcertificaterequest/podcertificaterequest.h"

#include <fmt/format.h>

#include "lib/admission/signer_access.h"
#include "lib/base/clock.h"
#include "lib/meta/equal.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/certificates/podcertificaterequest/validation.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class RequestStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidatePodCertificateRequest(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    ValidateImmutableAtRoot("spec", object, old, errors);
    return errors;
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

class RequestStatusStrategy final : public registry::StatusStrategy {
 public:
  RequestStatusStrategy(registry::StrategyPtr kind, const Clock* clock)
      : StatusStrategy(std::move(kind), registry::AllMetadata()), clock_(clock) {}

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidatePodCertificateStatus(object, old, clock_->Now());
  }

 private:
  const Clock* const clock_;
};

const json::object& StatusOf(const meta::Object& request) {
  static const json::object kNone;
  const json::value* const status = meta::FindField(request.Root(), "status");
  return status && status->is_object() ? status->get_object() : kNone;
}

/// Requires the permission to sign for the signer of the stored request, for a valid update that changes the status.
class SignCheck final : public registry::WriteChecks {
 public:
  SignCheck(meta::Gvk kind, const KindInputs& inputs)
      : kind_(std::move(kind)), auth_(inputs.auth), clock_(inputs.clock) {}

  Task<meta::Result<>> CheckCreate(meta::RequestContext, const meta::Object&) override { co_return meta::Result<>(); }
  Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& object,
                                   const meta::Object& old) override {
    // The validation reports the errors of an invalid status, not this check.
    if (meta::Equal(StatusOf(object), StatusOf(old)) ||
        !ValidatePodCertificateStatus(object, old, clock_->Now()).empty())
      co_return meta::Result<>();
    const std::string signer(meta::FindString(old.Root(), "spec", "signerName"));
    const bool may = co_await admission::MayUseSigner(auth_, ctx, "sign", signer);
    if (may) co_return meta::Result<>();
    meta::FieldErrors errors;
    errors.push_back(
        meta::Forbidden("spec.signerName", fmt::format("User {} is not permitted to \"sign\" for signer {}",
                                                       meta::Quoted(ctx.User().name), meta::Quoted(signer))));
    co_return meta::Invalid(kind_.GroupKind(), old.Name(), errors);
  }

 private:
  const meta::Gvk kind_;
  const service::AuthClientPtr auth_;
  const Clock* const clock_;
};

std::string StateText(const meta::Object& request) {
  std::string state = "Pending";
  const json::value* const conditions = meta::Find(request.Root(), "status", "conditions");
  for (std::size_t i = 0; conditions && conditions->is_array() && i < conditions->get_array().size(); ++i) {
    const json::value& condition = conditions->get_array()[i];
    if (!condition.is_object()) continue;
    const std::string_view type = meta::FindString(condition.get_object(), "type");
    if (type == "Issued" || type == "Denied" || type == "Failed") state = type;
  }
  return state;
}

json::array Cells(const meta::Object& object, meta::Ages&) {
  const json::object& root = object.Root();
  const auto text = [&root](const char* field) { return TextCell(meta::FindString(root, "spec", field)); };
  return {json::string(object.Name()),
          text("podName"),
          text("serviceAccountName"),
          text("nodeName"),
          text("signerName"),
          json::string(StateText(object)),
          json::string(LabelsText(meta::Find(root, "spec", "unverifiedUserAnnotations")))};
}

}  // namespace

registry::Resource PodCertificateRequestResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("certificates.k8s.io", "v1beta1", "podcertificaterequests", std::make_shared<RequestStrategy>());
  resource
      .reset_fields = {};  // as in kube-apiserver, the sender of a status owns its fields, although it is not stored
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<RequestStatusStrategy>(resource.strategy, inputs.clock);
  status.reset_fields = {"spec"};
  status.checks = std::make_shared<SignCheck>(resource.gvk, inputs);
  resource.selectable_fields = {"spec.signerName", "spec.podName", "spec.nodeName"};
  resource.table = {{NameColumn(),
                     {.name = "PodName", .description = "The pod that gets the certificate."},
                     {.name = "ServiceAccountName", .description = "The service account of the pod."},
                     {.name = "NodeName", .description = "The node of the pod."},
                     {.name = "SignerName", .description = "Who is asked to sign."},
                     {.name = "State", .description = "Whether the request is Pending, Issued, Denied or Failed."},
                     {.name = "UnverifiedUserAnnotations", .description = "What the pod tells the signer."}},
                    &Cells,
                    {"metadata.name", "spec.podName", "spec.serviceAccountName", "spec.nodeName", "spec.signerName",
                     "status.conditions", "spec.unverifiedUserAnnotations"}};
  return resource;
}

}  // namespace apimesh::core_api
