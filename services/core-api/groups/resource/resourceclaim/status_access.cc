#include "services/core-api/groups/resource/resourceclaim/status_access.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/errors/forbidden.h"
#include "lib/meta/names.h"
#include "lib/registry/keep_field.h"
#include "services/core-api/groups/resource/admin_access.h"
#include "services/core-api/groups/resource/resourceclaim/status.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Returns the drivers whose entries of status.devices were added, changed or removed.
std::set<std::string> ChangedDrivers(const meta::Object& claim, const meta::Object& old) {
  std::set<std::string> drivers;
  std::map<std::string, const json::object*> before;
  for (const json::object& device : Objects(meta::Find(old.Root(), "status", "devices")))
    before[DeviceId(device)] = &device;
  for (const json::object& device : Objects(meta::Find(claim.Root(), "status", "devices"))) {
    const auto found = before.find(DeviceId(device));
    if (found == before.end() || !meta::Equal(*found->second, device))
      drivers.emplace(meta::FindString(device, "driver"));
    if (found != before.end()) before.erase(found);
  }
  for (const auto& [id, device] : before) drivers.emplace(meta::FindString(*device, "driver"));
  return drivers;
}

/// Returns the node to which the allocation restricts the claim, or "".
std::string_view NodeOf(const meta::Object& claim) {
  const auto terms = Objects(meta::Find(claim.Root(), "status", "allocation", "nodeSelector", "nodeSelectorTerms"));
  if (terms.size() != 1 || !Objects(meta::FindField(terms[0].get(), "matchExpressions")).empty()) return {};
  const auto fields = Objects(meta::FindField(terms[0].get(), "matchFields"));
  if (fields.size() != 1 || meta::FindString(fields[0].get(), "key") != "metadata.name" ||
      meta::FindString(fields[0].get(), "operator") != "In") {
    return {};
  }
  const json::value* values = meta::FindField(fields[0].get(), "values");
  if (!values || !values->is_array() || values->get_array().size() != 1 || !values->get_array()[0].is_string())
    return {};
  return values->get_array()[0].get_string();
}

/// Whether the user is a service account with a token that is bound to this node.
bool IsOnNode(const meta::UserInfo& user, std::string_view node) {
  if (node.empty() || !user.name.starts_with("system:serviceaccount:")) return false;
  const auto names = user.extra.find("authentication.kubernetes.io/node-name");
  return names != user.extra.end() && names->second.size() == 1 && names->second[0] == node &&
         meta::CheckDnsSubdomain(node).empty();
}

class StatusAccessCheck final : public registry::WriteChecks {
 public:
  StatusAccessCheck(meta::Gvk kind, const KindInputs& inputs)
      : kind_(std::move(kind)),
        namespaces_(inputs.StoreOf({"", "v1", "namespaces"})),
        auth_(inputs.auth),
        is_granular_(inputs.features.Enabled(features::kDRAResourceClaimGranularStatusAuthorization)),
        has_devices_(inputs.features.Enabled(features::kDRAResourceClaimDeviceStatus)) {}

  Task<meta::Result<>> CheckCreate(meta::RequestContext, const meta::Object&) override { co_return meta::Result<>(); }

  Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& given,
                                   const meta::Object& old) override {
    meta::Object claim = given;
    DropDeallocatedDevices(claim, old);  // a claim that is deallocated loses the status of its devices
    meta::FieldErrors errors;
    const std::string granted = GrantedAdminAccess(old), asked = GrantedAdminAccess(claim);
    if (granted.empty() && !asked.empty()) {
      const meta::FieldErrors refused = co_await CheckAdminNamespace(ctx, namespaces_, asked);
      errors.Append(refused);
    }
    const auto changed = [&](const char* field) {
      return !meta::Equal(meta::Find(claim.Root(), "status", field), meta::Find(old.Root(), "status", field));
    };
    if (is_granular_ && (changed("allocation") || changed("reservedFor"))) {
      meta::RequestInfo info = ctx.Info();
      info.subresource = "binding";
      info.ns.clear();
      info.name.clear();
      const std::string refusal = co_await Refusal(ctx, info);
      if (!refusal.empty()) {
        errors.push_back(meta::Forbidden(
            "status.allocation",
            fmt::format(
                "changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", "
                "verb=\"{}\" permission: {}",
                info.verb.Text(), refusal)));
      }
    }
    if (is_granular_ && has_devices_ && meta::Find(claim.Root(), "status", "allocation")) {
      const meta::FieldErrors refused = co_await CheckDrivers(ctx, ChangedDrivers(claim, old), NodeOf(claim));
      errors.Append(refused);
    }
    if (errors.empty()) co_return meta::Result<>();
    // These checks run before the validation, and the answer lists the errors of both.
    registry::KeepField("spec", claim.Root(), old.Root());
    errors.Append(ValidateClaimStatus(claim, old));
    co_return meta::Invalid(kind_.GroupKind(), claim.Name(), errors);
  }

 private:
  Task<meta::FieldErrors> CheckDrivers(meta::RequestContext ctx, std::set<std::string> drivers, std::string_view node) {
    meta::FieldErrors errors;
    if (drivers.empty()) co_return errors;
    std::vector<std::string> verbs;
    if (IsOnNode(ctx.User(), node)) verbs.push_back(fmt::format("associated-node:{}", ctx.Info().verb.Text()));
    verbs.push_back(fmt::format("arbitrary-node:{}", ctx.Info().verb.Text()));
    for (const std::string& driver : drivers) {
      std::string first;
      bool allowed = false;
      for (const std::string& verb : verbs) {
        meta::RequestInfo info = ctx.Info();
        info.verb = verb;
        info.subresource = "driver";
        info.name = driver;
        const std::string refusal = co_await Refusal(ctx, info);
        allowed = refusal.empty();
        if (allowed) break;
        if (first.empty()) first = refusal;
      }
      if (allowed) continue;
      errors.push_back(meta::Forbidden(
          "status.devices",
          fmt::format(
              "changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[{}]\" permission: {}",
              fmt::join(verbs, " "), first)));
    }
    co_return errors;
  }

  /// Returns "" if the user is allowed to do what `info` describes, and the text of the 403 otherwise.
  Task<std::string> Refusal(meta::RequestContext ctx, meta::RequestInfo info) {
    service::AccessQuestion question;
    question.user = ctx.User();
    question.info = info;
    const meta::Result<service::AccessDecision> decision =
        co_await auth_->Authorize(std::move(question), ctx.Deadline());
    if (decision && decision->allowed) co_return "";
    std::string why = decision ? decision->reason : decision.error().Message();
    if (decision && !decision->error.empty())
      why = why.empty() ? decision->error : fmt::format("{}: {}", decision->error, why);
    co_return meta::ForbiddenTo(ctx.User().name, info, why).Message();
  }

  const meta::Gvk kind_;
  const storage::StorePtr namespaces_;
  const service::AuthClientPtr auth_;
  const bool is_granular_, has_devices_;
};

}  // namespace

std::shared_ptr<registry::WriteChecks> MakeStatusAccessCheck(meta::Gvk kind, const KindInputs& inputs) {
  return std::make_shared<StatusAccessCheck>(std::move(kind), inputs);
}

}  // namespace apimesh::core_api
