#include "services/core-api/groups/admissionregistration/webhookconfiguration/webhookconfiguration.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/admissionregistration/rules.h"
#include "services/core-api/groups/admissionregistration/webhookconfiguration/webhook_client.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Names = std::set<std::string_view>;

/// The rules that apply. An update of an object that violates one of these rules may violate it further on.
struct Strictness {
  bool no_side_effects = true;
  bool known_review_version = true;
  bool unique_names = true;
  bool match_conditions = true;
  StoredExpressions stored = {};
};

const std::vector<std::string>& SideEffects(bool none) {
  static const std::vector<std::string> no_effects = {"None", "NoneOnDryRun"};
  static const std::vector<std::string> all = {"None", "NoneOnDryRun", "Some", "Unknown"};
  return none ? no_effects : all;
}

bool IsKnownVersion(std::string_view version) { return version == "v1" || version == "v1beta1"; }

void ValidateName(const Check& webhook) {
  if (!webhook.Require("name")) return;
  const std::string_view name = webhook.Text("name");
  if (const meta::Complaints complaints = meta::CheckDnsSubdomain(name); !complaints.empty()) {
    webhook.Invalid("name", fmt::format("{}", fmt::join(complaints, ",")));
  } else if (std::count(name.begin(), name.end(), '.') < 2) {
    webhook.Invalid("name", "should be a domain with at least three segments separated by dots");
  }
}

void ValidateVersions(const Check& webhook, bool known_version) {
  const meta::Path path = webhook.Path().Child("admissionReviewVersions");
  const std::vector<std::string_view> versions = TextsOf(webhook, "admissionReviewVersions");
  if (versions.empty()) {
    webhook.Add(meta::Required(path.ToString(), "must specify one of v1, v1beta1"));
    return;
  }
  Names seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!seen.insert(versions[i]).second) {
      webhook.Add(meta::Invalid(path.Index(i).ToString(), meta::Quoted(versions[i]), "duplicate version"));
      continue;
    }
    CheckText(webhook, path.Index(i), versions[i], meta::CheckDns1035Label);
  }
  if (known_version && std::none_of(versions.begin(), versions.end(), IsKnownVersion))
    webhook.Invalid("admissionReviewVersions", "must include at least one of v1, v1beta1");
}

void ValidateWebhook(const Check& webhook, const Strictness& strictness) {
  ValidateName(webhook);
  for (const Check& rule : webhook.Each("rules")) ValidateAdmissionRule(rule);
  ValidateChoice(webhook, "failurePolicy", {"Fail", "Ignore"});
  ValidateChoice(webhook, "matchPolicy", {"Equivalent", "Exact"});
  const std::vector<std::string>& effects = SideEffects(strictness.no_side_effects);
  if (!webhook.Has("sideEffects")) {
    webhook.Add(meta::Required(webhook.Path().Child("sideEffects").ToString(),
                               fmt::format("must specify one of {}", fmt::join(effects, ", "))));
  }
  ValidateChoice(webhook, "sideEffects", effects);
  if (const auto timeout = webhook.Number("timeoutSeconds"); timeout && (*timeout < 1 || *timeout > 30))
    webhook.Invalid("timeoutSeconds", "the timeout value must be between 1 and 30 seconds");
  ValidateSelectorOf(webhook, "namespaceSelector");
  ValidateSelectorOf(webhook, "objectSelector");
  ValidateChoice(webhook, "reinvocationPolicy", {"IfNeeded", "Never"});
  ValidateWebhookClient(webhook);
  if (strictness.match_conditions) ValidateMatchConditions(webhook, false, strictness.stored);
  ValidateVersions(webhook, strictness.known_review_version);
}

meta::FieldErrors ValidateConfiguration(const meta::Object& object, const Strictness& strictness) {
  meta::FieldErrors errors;
  Names names;
  for (const Check& webhook : Check(object.Root(), meta::Path(), errors).Each("webhooks")) {
    ValidateWebhook(webhook, strictness);
    const std::string_view name = webhook.Text("name");
    if (strictness.unique_names && !name.empty() && !names.insert(name).second)
      webhook.Add(meta::Duplicate(webhook.Path().Child("name").ToString(), meta::Quoted(name)));
  }
  return errors;
}

/// Returns whether both lists of webhooks have the same match conditions.
bool SameConditions(const Checks& now, const Checks& before) {
  if (now.size() != before.size()) return false;
  auto other = before.begin();
  for (const Check& webhook : now) {
    if (!meta::Equal(meta::FindField(webhook.Object(), "matchConditions"),
                     meta::FindField((*other).Object(), "matchConditions")))
      return false;
    ++other;
  }
  return true;
}

Strictness StrictnessFor(const meta::Object& object, const meta::Object& old) {
  Strictness strictness;
  meta::FieldErrors ignored;
  const Checks before = Check(old.Root(), meta::Path(), ignored).Each("webhooks");
  Names names;
  for (const Check& webhook : before) {
    const auto& effects = SideEffects(true);
    strictness.no_side_effects &=
        std::find(effects.begin(), effects.end(), webhook.Text("sideEffects")) != effects.end();
    const std::vector<std::string_view> versions = TextsOf(webhook, "admissionReviewVersions");
    strictness.known_review_version &=
        versions.empty() || std::any_of(versions.begin(), versions.end(), IsKnownVersion);
    strictness.unique_names &= names.insert(webhook.Text("name")).second;
    AddStored(webhook.Object(), "matchConditions", "expression", strictness.stored);
  }
  strictness.match_conditions = !SameConditions(Check(object.Root(), meta::Path(), ignored).Each("webhooks"), before);
  return strictness;
}

class WebhookStrategy final : public AdmissionStrategy<registry::Strategy> {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateConfiguration(object, {});
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateConfiguration(object, StrictnessFor(object, old));
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  meta::FieldErrors ignored;
  const Check root(object.Root(), meta::Path(), ignored);
  return {json::string(object.Name()), SizeOf(root, "webhooks"), AgeCell(object, ages)};
}

registry::Resource WebhookResource(const char* plural) {
  registry::Resource resource =
      FromTable("admissionregistration.k8s.io", "v1", plural, std::make_shared<WebhookStrategy>());
  resource.generation = true;
  resource.table = {{NameColumn(), IntegerColumn("Webhooks", "Number of webhooks."), AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "webhooks"}};
  return resource;
}

}  // namespace

registry::Resource ValidatingWebhookConfigurationResource(const KindInputs&) {
  return WebhookResource("validatingwebhookconfigurations");
}

registry::Resource MutatingWebhookConfigurationResource(const KindInputs&) {
  return WebhookResource("mutatingwebhookconfigurations");
}

}  // namespace apimesh::core_api
