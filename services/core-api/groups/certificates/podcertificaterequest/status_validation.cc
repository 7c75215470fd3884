#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/issued_certificate.h"
#include "lib/credentials/pem.h"
#include "lib/meta/equal.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/certificates/podcertificaterequest/validation.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using credentials::IssuedCertificate;
using credentials::RequestedKey;
using std::chrono::minutes;

constexpr std::string_view kIssued = "Issued";
const std::vector<std::string> kFinal = {"Issued", "Denied", "Failed"};
constexpr std::size_t kMaxChainBytes = 100 * 1024;
constexpr minutes kMaxSkew{5}, kMinValidity{60}, kRefreshMargin{10};

bool IsFinalType(std::string_view type) { return std::find(kFinal.begin(), kFinal.end(), type) != kFinal.end(); }

/// A request has at most one condition, which is final and true.
void ValidateFinalConditions(const Check& status) {
  int found = 0;
  std::size_t index = 0;
  for (const Check& condition : status.Each("conditions")) {
    // kube-apiserver writes the index as a field.
    const std::string path = fmt::format("status.conditions.[{}].", index++);
    const std::string_view type = condition.Text("type"), value = condition.Text("status");
    if (!IsFinalType(type)) {
      status.Add(meta::NotSupported(path + "type", meta::Quoted(type), kFinal));
      continue;
    }
    if (++found > 1) {
      status.Add(meta::Invalid(path + "type", meta::Quoted(type),
                               R"(There may be at most one condition with type "Issued", "Denied", or "Failed")"));
    }
    if (value != "True") status.Add(meta::NotSupported(path + "status", meta::Quoted(value), {"True"}));
  }
}

/// Returns the type of the final condition; "" if the request is pending.
std::string_view StateOf(const Check& status) {
  for (const Check& condition : status.Each("conditions")) {
    if (IsFinalType(condition.Text("type")) && condition.Text("status") == "True") return condition.Text("type");
  }
  return "";
}

/// Whether an address looks like "local@domain". Quoted local parts and display names do not occur in certificates.
bool IsEmailAddress(std::string_view address) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && word.front() != '.' && word.back() != '.' && word.find("..") == word.npos &&
           std::all_of(word.begin(), word.end(), [](unsigned char c) {
             return std::isalnum(c) ||
                    std::string_view(".!#$%&'*+-/=?^_`{|}~").find(static_cast<char>(c)) != std::string_view::npos;
           });
  };
  const std::size_t at = address.find('@');
  return at != address.npos && is_word(address.substr(0, at)) && is_word(address.substr(at + 1));
}

/// Validates the status that adds a certificate. Validation ends at the first error of most kinds.
class IssuedStatus {
 public:
  IssuedStatus(const Check& spec, const Check& status, WallTime now) : spec_(spec), status_(status), now_(now) {}

  void Validate() {
    const std::string_view chain = status_.Text("certificateChain");
    if (chain.size() > kMaxChainBytes)
      return status_.Add(meta::TooLong(status_.Path().Child("certificateChain").ToString(), kMaxChainBytes));
    const auto blocks = credentials::PemBlocks(chain);
    if (!blocks || blocks->empty())
      return RefuseChain("issued certificate chain must contain at least one certificate");
    if (blocks->front().type != "CERTIFICATE")
      return RefuseChain("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
    const std::optional<IssuedCertificate> leaf = IssuedCertificate::Parse(blocks->front().bytes);
    if (!leaf) return RefuseChain("leaf certificate does not parse as valid X.509");
    ValidateNames(*leaf);
    if (!IsForRequestedKey(*leaf)) return RefuseChain("leaf certificate was not issued to the requested public key");
    ReadTimes();
    if (!status_.Full() && AllTimes() && !bad_names_ && ValidateTimes(*leaf)) ValidateOthers(*blocks);
  }

 private:
  void RefuseChain(std::string detail) const {
    status_.Add(meta::Invalid(status_.Path().Child("certificateChain").ToString(),
                              meta::Quoted(status_.Text("certificateChain")), std::move(detail)));
  }
  void RefuseName(std::string_view name, std::string detail) {
    bad_names_ = true;
    status_.Add(
        meta::Invalid(status_.Path().Child("certificateChain").ToString(), meta::Quoted(name), std::move(detail)));
  }

  void ValidateNames(const IssuedCertificate& leaf) {
    for (const std::string& name : leaf.dns_names) {
      if (name.empty()) RefuseName(name, "leaf certificate should not contain empty DNSName");
      if (name.find("..") != std::string::npos) RefuseName(name, "leaf certificate's DNSName should not contain '..'");
      if (name.starts_with('.') || name.ends_with('.'))
        RefuseName(name, "leaf certificate's DNSName should not start or end with '.'");
    }
    for (const std::string& address : leaf.email_addresses) {
      if (!IsEmailAddress(address)) RefuseName(address, "leaf certificate should not contain invalid EmailAddress");
    }
  }

  bool IsForRequestedKey(const IssuedCertificate& leaf) const {
    std::string der;
    const std::string_view stub = spec_.Text("stubPKCS10Request");
    DecodeBase64(stub.empty() ? spec_.Text("pkixPublicKey") : stub, der);
    const std::optional<RequestedKey> wanted =
        stub.empty() ? RequestedKey::FromPkix(der) : RequestedKey::FromRequest(der);
    return wanted && *wanted == leaf.key;
  }

  void ReadTimes() {
    not_before_ = meta::ParseTime(status_.Text("notBefore"));
    not_after_ = meta::ParseTime(status_.Text("notAfter"));
    begin_refresh_ = meta::ParseTime(status_.Text("beginRefreshAt"));
  }
  bool AllTimes() const {
    constexpr const char* kConsistent = "must be present and consistent with the issued certificate";
    const auto require = [this](const std::optional<WallTime>& time, const char* field, const char* detail) {
      if (!time) status_.Add(meta::Required(status_.Path().Child(field).ToString(), detail));
    };
    require(not_before_, "notBefore", kConsistent);
    require(not_after_, "notAfter", kConsistent);
    require(begin_refresh_, "beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]");
    return not_before_ && not_after_ && begin_refresh_;
  }

  /// Returns whether the times are valid.
  bool ValidateTimes(const IssuedCertificate& leaf) const {
    const auto refuse = [this](const char* field, const char* detail) {
      status_.Invalid(field, detail);
      return false;
    };
    if (*not_before_ != leaf.not_before)
      return refuse("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
    if (*not_before_ <= now_ - kMaxSkew || *not_before_ >= now_ + kMaxSkew)
      return refuse("notBefore", "must be set to within 5 minutes of kube-apiserver's current time");
    if (*not_after_ != leaf.not_after)
      return refuse("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
    const auto lifetime = leaf.not_after - leaf.not_before;
    const std::int64_t most = spec_.Number("maxExpirationSeconds").value_or(0);
    if (lifetime < kMinValidity || lifetime > std::chrono::seconds(most)) {
      status_.Add(meta::Invalid(
          status_.Path().Child("certificateChain").ToString(),
          fmt::format("{}", std::chrono::duration_cast<std::chrono::nanoseconds>(lifetime).count()),
          lifetime < kMinValidity
              ? std::string("leaf certificate lifetime must be >= 1 hour")
              : fmt::format("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({})", most)));
      return false;
    }
    if (*begin_refresh_ < *not_before_ + kRefreshMargin)
      return refuse("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
    if (*begin_refresh_ > *not_after_ - kRefreshMargin)
      return refuse("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
    return true;
  }

  void ValidateOthers(const std::vector<credentials::PemBlock>& blocks) const {
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      if (blocks[i].type != "CERTIFICATE")
        return RefuseChain("issued certificate chain must consist entirely of CERTFICATE PEM blocks");
      if (!IssuedCertificate::Parse(blocks[i].bytes))
        return RefuseChain("intermediate certificate does not parse as valid X.509");
    }
  }

  const Check& spec_;
  const Check& status_;
  const WallTime now_;
  bool bad_names_ = false;
  std::optional<WallTime> not_before_, not_after_, begin_refresh_;
};

/// Returns the status; an empty object if there is none.
json::object StatusFields(const meta::Object& request) {
  const json::value* const status = meta::FindField(request.Root(), "status");
  return status && status->is_object() ? status->get_object() : json::object();
}

}  // namespace

meta::FieldErrors ValidatePodCertificateStatus(const meta::Object& request, const meta::Object& old, WallTime now) {
  meta::FieldErrors errors, ignored;
  const Check spec = SpecOf(old, errors), status = StatusOf(request, errors), before = StatusOf(old, ignored);
  ValidateFinalConditions(status);
  ValidateConditions(status);
  if (!errors.empty()) return errors;
  const json::object now_set = StatusFields(request), set_before = StatusFields(old);
  const auto require = [&errors](bool holds, const char* detail) {
    if (!holds) errors.push_back(meta::Invalid("status", "", detail));
  };
  const std::string_view state = StateOf(status);
  if (!StateOf(before).empty()) {
    require(meta::Equal(now_set, set_before), "immutable after PodCertificateRequest is issued, denied, or failed");
  } else if (state == kIssued) {
    IssuedStatus(spec, status, now).Validate();
  } else if (!state.empty()) {
    require(std::none_of(now_set.begin(), now_set.end(), [](const auto& field) { return field.key() != "conditions"; }),
            "non-condition status fields must be empty when denying or failing the PodCertificateRequest");
  } else {
    require(meta::Equal(now_set, set_before),
            R"(status is immutable unless transitioning to "Issued", "Denied", or "Failed")");
  }
  return errors;
}

}  // namespace apimesh::core_api
