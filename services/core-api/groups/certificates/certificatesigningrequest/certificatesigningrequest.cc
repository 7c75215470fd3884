#include "services/core-api/groups/certificates/certificatesigningrequest/certificatesigningrequest.h"

#include "lib/base/clock.h"
#include "lib/meta/names.h"
#include "lib/meta/time.h"
#include "lib/registry/keep_field.h"
#include "services/core-api/groups/certificates/certificatesigningrequest/conditions.h"
#include "services/core-api/groups/certificates/certificatesigningrequest/validation.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

json::array Texts(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

/// Sets the requester from the authenticated user. Values that the client sent are discarded.
void SetRequester(const meta::UserInfo& user, json::object& spec) {
  for (const char* field : {"username", "uid", "groups", "extra"}) meta::EraseField(spec, field);
  if (!user.name.empty()) spec["username"] = user.name;
  if (!user.uid.empty()) spec["uid"] = user.uid;
  if (!user.groups.empty()) spec["groups"] = Texts(user.groups);
  for (const auto& [key, values] : user.extra) meta::MakeObject(spec, "extra")[key] = Texts(values);
}

class CsrStrategy : public registry::Strategy {
 public:
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    SetRequester(ctx.User(), meta::MakeObject(object.Root(), "spec"));
    meta::EraseField(object.Root(), "status");  // a request cannot be created with an approval
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateCsr(object);
  }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    registry::KeepField("spec", object.Root(), old.Root());
    registry::KeepField("status", object.Root(), old.Root());
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateCsrUpdate(object, old, CsrUpdate::kRequest);
  }
};

/// Updates of /status can change the certificate and all conditions except Approved and Denied. Validation refuses an
/// update that adds or removes one of these.
class CsrStatusStrategy final : public CsrStrategy {
 public:
  explicit CsrStatusStrategy(const Clock* clock) : clock_(clock) {}

  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    registry::KeepField("spec", object.Root(), old.Root());
    KeepConditions(object, old, kApproved);
    KeepConditions(object, old, kDenied);
    FillConditionTimes(object, old, meta::FormatTime(clock_->Now()));
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateCsrUpdate(object, old, CsrUpdate::kStatus);
  }

 private:
  const Clock* const clock_;
};

/// Updates of /approval change conditions only.
class CsrApprovalStrategy final : public CsrStrategy {
 public:
  explicit CsrApprovalStrategy(const Clock* clock) : clock_(clock) {}

  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    FillConditionTimes(object, old, meta::FormatTime(clock_->Now()));
    const json::array* sent = ConditionsOf(static_cast<const meta::Object&>(object));
    const std::optional<json::array> conditions = sent ? std::optional<json::array>(*sent) : std::nullopt;
    registry::KeepField("spec", object.Root(), old.Root());
    registry::KeepField("status", object.Root(), old.Root());
    json::object& status = meta::MakeObject(object.Root(), "status");
    if (conditions) {
      status["conditions"] = *conditions;
    } else {
      meta::EraseField(status, "conditions");
    }
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateCsrUpdate(object, old, CsrUpdate::kApproval);
  }

 private:
  const Clock* const clock_;
};

std::string StatusText(const meta::Object& request) {
  std::string text = HasCondition(request, kApproved) ? "Approved" : "Pending";
  if (HasCondition(request, kDenied)) text = "Denied";
  if (HasCondition(request, kFailed)) text += ",Failed";
  if (!meta::FindString(request.Root(), "status", "certificate").empty()) text += ",Issued";
  return text;
}

std::string DurationText(const meta::Object& request) {
  const json::value* seconds = meta::Find(request.Root(), "spec", "expirationSeconds");
  if (!seconds || !seconds->is_int64()) return "<none>";
  return meta::HumanDuration(std::chrono::seconds(seconds->get_int64()));
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  return {json::string(object.Name()),
          AgeCell(object, ages),
          TextCell(meta::FindString(root, "spec", "signerName"), "<none>"),
          TextCell(meta::FindString(root, "spec", "username")),
          json::string(DurationText(object)),
          json::string(StatusText(object))};
}

}  // namespace

registry::Resource CertificateSigningRequestResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("certificates.k8s.io", "v1", "certificatesigningrequests", std::make_shared<CsrStrategy>());
  resource.validate_name = meta::NameIsPathSegment;
  resource.reset_fields = {"spec", "status"};
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<CsrStatusStrategy>(inputs.clock);
  status.reset_fields = {"spec", "status.conditions"};
  registry::Subresource& approval = SubresourceOf(resource, "approval");
  approval.strategy = std::make_shared<CsrApprovalStrategy>(inputs.clock);
  approval.reset_fields = {"spec", "status.certificate"};
  resource.selectable_fields = {"spec.signerName"};
  resource.table = {{NameColumn(),
                     AgeColumn(),
                     {.name = "SignerName", .description = "Who is asked to sign."},
                     {.name = "Requestor", .description = "The user who asks."},
                     {.name = "RequestedDuration", .description = "How long the certificate shall be valid."},
                     {.name = "Condition", .description = "What was decided, and whether the certificate was issued."}},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.signerName", "spec.username",
                     "spec.expirationSeconds", "status.conditions", "status.certificate"}};
  return resource;
}

}  // namespace apimesh::core_api
