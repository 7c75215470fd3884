#include "services/core-api/groups/certificates/certificatesigningrequest/validation.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/certificate_request.h"
#include "services/core-api/groups/certificates/certificatesigningrequest/conditions.h"
#include "services/core-api/groups/certificates/signers/signers.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;
using meta::Quoted;

constexpr std::string_view kLegacySigner = "kubernetes.io/legacy-unknown";
constexpr std::int64_t kShortestSeconds = 600;

// In the order in which kube-apiserver lists them.
const std::vector<std::string> kUsages = {"any",
                                          "cert sign",
                                          "client auth",
                                          "code signing",
                                          "content commitment",
                                          "crl sign",
                                          "data encipherment",
                                          "decipher only",
                                          "digital signature",
                                          "email protection",
                                          "encipher only",
                                          "ipsec end system",
                                          "ipsec tunnel",
                                          "ipsec user",
                                          "key agreement",
                                          "key encipherment",
                                          "microsoft sgc",
                                          "netscape sgc",
                                          "ocsp signing",
                                          "s/mime",
                                          "server auth",
                                          "signing",
                                          "timestamping"};

/// Errors that are tolerated because the stored request has them as well.
struct Tolerated {
  bool both_decisions = false, legacy_signer = false, duplicate_conditions = false, empty_condition_type = false;
  bool any_certificate = false, unknown_usages = false, duplicate_usages = false;
};

std::vector<std::string> Usages(const meta::Object& request) {
  std::vector<std::string> usages;
  const json::value* value = meta::Find(request.Root(), "spec", "usages");
  if (!value || !value->is_array()) return usages;
  for (const json::value& usage : value->get_array()) {
    usages.emplace_back(usage.is_string() ? std::string_view(usage.get_string()) : "");
  }
  return usages;
}

bool IsKnownUsage(const std::string& usage) {
  return std::find(kUsages.begin(), kUsages.end(), usage) != kUsages.end();
}

template <class Texts>
bool HasDuplicate(const Texts& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() != texts.size();
}

std::vector<std::string> ConditionTypes(const meta::Object& request) {
  std::vector<std::string> types;
  const json::array* conditions = ConditionsOf(request);
  for (std::size_t i = 0; conditions && i < conditions->size(); ++i) {
    types.emplace_back((*conditions)[i].is_object() ? meta::FindString((*conditions)[i].get_object(), "type") : "");
  }
  return types;
}

std::string_view Certificate(const meta::Object& request) {
  return meta::FindString(request.Root(), "status", "certificate");
}

std::string Decoded(std::string_view base64) {
  std::string bytes;
  DecodeBase64(base64, bytes);
  return bytes;
}

meta::Result<> CheckCertificate(const meta::Object& request) {
  if (Certificate(request).empty()) return {};
  return credentials::CheckCertificates(Decoded(Certificate(request)));
}

Tolerated ToleratedFor(const meta::Object& request, const meta::Object& old) {
  const std::vector<std::string> types = ConditionTypes(old), usages = Usages(old);
  Tolerated tolerated;
  tolerated.both_decisions = HasCondition(old, kApproved) && HasCondition(old, kDenied);
  tolerated.legacy_signer = meta::FindString(old.Root(), "spec", "signerName") == kLegacySigner;
  tolerated.duplicate_conditions = HasDuplicate(types);
  tolerated.empty_condition_type = std::find(types.begin(), types.end(), "") != types.end();
  tolerated.any_certificate = Certificate(request) == Certificate(old) || !CheckCertificate(old);
  tolerated.unknown_usages = !std::all_of(usages.begin(), usages.end(), IsKnownUsage);
  tolerated.duplicate_usages = HasDuplicate(usages);
  return tolerated;
}

void CheckUsages(const std::vector<std::string>& usages, const Tolerated& tolerated, FieldErrors& errors) {
  const meta::Path path = meta::Path("spec").Child("usages");
  if (usages.empty()) errors.push_back(meta::Required(path.ToString(), ""));
  for (std::size_t i = 0; i < usages.size() && !tolerated.unknown_usages; ++i) {
    if (IsKnownUsage(usages[i])) continue;
    errors.push_back(meta::NotSupported(path.Index(i).ToString(), Quoted(usages[i]), kUsages));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < usages.size() && !tolerated.duplicate_usages; ++i) {
    if (!seen.insert(usages[i]).second) errors.push_back(meta::Duplicate(path.Index(i).ToString(), Quoted(usages[i])));
  }
}

void CheckConditionStatus(const Check& condition) {
  static const std::vector<std::string> kTrue = {"True"}, kAll = {"False", "True", "Unknown"};
  const std::string_view type = condition.Text("type");
  const bool decision = type == kApproved || type == kDenied || type == kFailed;
  condition.RequireOneOf("status", decision ? kTrue : kAll);
}

void CheckConditions(const meta::Object& request, const Tolerated& tolerated, FieldErrors& errors) {
  const json::array* conditions = ConditionsOf(request);
  const meta::Path path = meta::Path("status").Child("conditions");
  std::set<std::string> seen;
  for (std::size_t i = 0; conditions && i < conditions->size(); ++i) {
    if (!(*conditions)[i].is_object()) continue;
    const Check condition((*conditions)[i].get_object(), path.Index(i), errors);
    const std::string type(condition.Text("type"));
    if (!tolerated.empty_condition_type) condition.Require("type");
    CheckConditionStatus(condition);
    const bool contradicts = (type == kApproved && seen.contains(std::string(kDenied))) ||
                             (type == kDenied && seen.contains(std::string(kApproved)));
    if (contradicts && !tolerated.both_decisions) {
      errors.push_back(
          meta::Invalid(path.ToString(), Quoted(type), "Approved and Denied conditions are mutually exclusive"));
    }
    if (!seen.insert(type).second && !tolerated.duplicate_conditions) {
      errors.push_back(meta::Duplicate(path.Index(i).Child("type").ToString(), Quoted(type)));
    }
  }
}

void CheckSpec(const meta::Object& request, const Tolerated& tolerated, FieldErrors& errors) {
  const std::string_view pem = meta::FindString(request.Root(), "spec", "request");
  if (const auto verified = credentials::VerifyCertificateRequest(Decoded(pem)); !verified) {
    errors.push_back(meta::Invalid("spec.request", Shown(meta::Find(request.Root(), "spec", "request")),
                                   verified.error().Message()));
  }
  CheckUsages(Usages(request), tolerated, errors);
  const std::string_view signer = meta::FindString(request.Root(), "spec", "signerName");
  if (signer == kLegacySigner && !tolerated.legacy_signer) {
    errors.push_back(
        meta::Invalid("spec.signerName", Quoted(signer), "the legacy signerName is not allowed via this API version"));
  } else {
    CheckSignerName("spec.signerName", signer, errors);
  }
  const json::value* seconds = meta::Find(request.Root(), "spec", "expirationSeconds");
  if (seconds && seconds->is_int64() && seconds->get_int64() < kShortestSeconds) {
    errors.push_back(meta::Invalid("spec.expirationSeconds", Shown(seconds),
                                   "may not specify a duration less than 600 seconds (10 minutes)"));
  }
}

FieldErrors ValidateAll(const meta::Object& request, const Tolerated& tolerated) {
  FieldErrors errors;
  CheckSpec(request, tolerated, errors);
  CheckConditions(request, tolerated, errors);
  if (tolerated.any_certificate) return errors;
  if (const meta::Result<> checked = CheckCertificate(request); !checked) {
    errors.push_back(meta::Invalid("status.certificate", Quoted("<certificate data>"), checked.error().Message()));
  }
  return errors;
}

/// Checks that Approved, Denied and Failed conditions are not removed, and that Approved and Denied are added or
/// changed only by updates of /approval.
void CheckDecisions(const meta::Object& request, const meta::Object& old, CsrUpdate update, FieldErrors& errors) {
  const auto forbid = [&errors](std::string_view what, std::string_view type) {
    errors.push_back(meta::Forbidden("status.conditions",
                                     fmt::format("updates may not {} a condition of type {}", what, Quoted(type))));
  };
  for (const std::string_view type : {kApproved, kDenied, kFailed}) {
    if (ConditionsOfType(request, type).size() < ConditionsOfType(old, type).size()) forbid("remove", type);
  }
  if (update == CsrUpdate::kApproval) return;
  for (const std::string_view type : {kApproved, kDenied}) {
    const auto now = ConditionsOfType(request, type), before = ConditionsOfType(old, type);
    if (now.size() > before.size()) forbid("add", type);
    const auto same = [](const json::object* a, const json::object* b) { return *a == *b; };
    if (now.size() != before.size()) continue;
    if (!std::equal(now.begin(), now.end(), before.begin(), same)) forbid("modify", type);
  }
}

void CheckCertificateChange(const meta::Object& request, const meta::Object& old, CsrUpdate update,
                            FieldErrors& errors) {
  if (Certificate(request) == Certificate(old)) return;
  if (update != CsrUpdate::kStatus) {
    errors.push_back(meta::Forbidden("status.certificate", "updates may not set certificate content"));
  } else if (!Certificate(old).empty()) {
    errors.push_back(meta::Forbidden("status.certificate", "updates may not modify existing certificate content"));
  }
}

}  // namespace

FieldErrors ValidateCsr(const meta::Object& request) { return ValidateAll(request, Tolerated()); }

FieldErrors ValidateCsrUpdate(const meta::Object& request, const meta::Object& old, CsrUpdate update) {
  FieldErrors errors = ValidateAll(request, ToleratedFor(request, old));
  CheckDecisions(request, old, update, errors);
  CheckCertificateChange(request, old, update, errors);
  return errors;
}

}  // namespace apimesh::core_api
