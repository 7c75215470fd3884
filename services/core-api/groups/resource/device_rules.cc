#include "services/core-api/groups/resource/device_rules.h"

#include <algorithm>
#include <set>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <re2/re2.h>

#include "lib/base/text/text.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

constexpr std::size_t kMaxIdentifier = 32, kMaxDomain = 63;
constexpr std::size_t kMaxParameters = 10 * 1024, kMaxPoolName = 253, kMaxConditions = 4;

void ValidateIdentifier(const Check& holder, const meta::Path& path, std::string_view name) {
  static const re2::RE2 pattern("[A-Za-z_][A-Za-z0-9_]*");
  if (name.size() > kMaxIdentifier) holder.Add(meta::TooLong(path.ToString(), kMaxIdentifier));
  if (re2::RE2::FullMatch(name, pattern)) return;
  holder.Add(meta::Invalid(
      path.ToString(), meta::Quoted(name),
      meta::PatternText("a valid C identifier must start with alphabetic character or '_', followed by a string of "
                        "alphanumeric characters or '_'",
                        "[A-Za-z_][A-Za-z0-9_]*", {"my_name", "MY_NAME", "MyName"})));
}

void ValidateDomain(const Check& holder, const meta::Path& path, std::string_view domain) {
  if (domain.size() > kMaxDomain) holder.Add(meta::TooLong(path.ToString(), kMaxDomain));
  for (std::string& complaint : meta::CheckDnsSubdomain(LowerCase(domain)))
    holder.Add(meta::Invalid(path.ToString(), meta::Quoted(domain), std::move(complaint)));
}

void ValidateOpaque(const Check& opaque) {
  ValidateCsiDriverName(opaque, "driver");
  const std::string path = opaque.Path().Child("parameters").ToString();
  const meta::json::value* parameters = meta::FindField(opaque.Object(), "parameters");
  if (!parameters || parameters->is_null()) {
    opaque.Add(meta::Required(path, ""));
  } else if (boost::json::serialize(*parameters).size() > kMaxParameters) {
    opaque.Add(meta::TooLong(path, kMaxParameters));
  } else if (!parameters->is_object()) {
    opaque.Add(meta::Invalid(path, "\"<value omitted>\"", "must be a valid JSON object"));
  }
}

}  // namespace

bool ValidateAtMost(const Check& holder, std::string_view field, std::size_t max,
                    const std::function<void(const Check&)>& validate) {
  const Checks items = holder.Each(field);
  if (items.size() > max) {
    holder.Add(meta::TooMany(holder.Path().Child(field).ToString(), items.size(), max));
    return false;
  }
  for (const Check& item : items) validate(item);
  return true;
}

void ValidateUnique(const Check& holder, std::string_view field, std::string_view key) {
  std::set<std::string_view> seen;
  for (const Check& item : holder.Each(field)) {
    if (!seen.insert(item.Text(key)).second)
      item.Add(meta::Duplicate(item.Path().ToString(), meta::Quoted(item.Text(key))));
  }
}

void ValidateTextSet(const Check& holder, std::string_view field, std::size_t max,
                     const std::function<void(const meta::Path&, std::string_view)>& validate) {
  const std::vector<std::string_view> texts = TextsOf(holder, field);
  const meta::Path path = holder.Path().Child(field);
  if (texts.size() > max) {
    holder.Add(meta::TooMany(path.ToString(), texts.size(), max));
    return;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) validate(path.Index(i), texts[i]);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!seen.insert(texts[i]).second) holder.Add(meta::Duplicate(path.Index(i).ToString(), meta::Quoted(texts[i])));
  }
}

void ValidateLabelName(const Check& holder, std::string_view field) {
  CheckText(holder, holder.Path().Child(field), holder.Text(field), meta::CheckDnsLabel);
}

void ValidatePoolName(const Check& holder, std::string_view field) {
  if (!holder.Require(field)) return;
  const std::string_view name = holder.Text(field);
  const meta::Path path = holder.Path().Child(field);
  if (name.size() > kMaxPoolName) holder.Add(meta::TooLong(path.ToString(), kMaxPoolName));
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    CheckText(holder, path, name.substr(at, end - at), meta::CheckDnsSubdomain);
    at = end + 1;
  }
}

void ValidateAttributeName(const Check& holder, const meta::Path& path, std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    ValidateIdentifier(holder, path, name);
    return;
  }
  const std::string_view domain = name.substr(0, slash), id = name.substr(slash + 1);
  if (id.find('/') != std::string_view::npos) return;  // kube-apiserver accepts names with more than one slash
  if (domain.empty()) holder.Add(meta::Invalid(path.ToString(), "\"\"", "the domain must not be empty"));
  if (!domain.empty()) ValidateDomain(holder, path, domain);
  if (id.empty()) holder.Add(meta::Invalid(path.ToString(), "\"\"", "the name must not be empty"));
  if (!id.empty()) ValidateIdentifier(holder, path, id);
}

void ValidateDeviceConfiguration(const Check& config) {
  if (const std::optional<Check> opaque = config.Child("opaque")) {
    ValidateOpaque(*opaque);
  } else {
    config.Add(meta::Required(config.Path().Child("opaque").ToString(), ""));
  }
}

void ValidateRequestReference(const Check& holder, const meta::Path& path, std::string_view name,
                              const RequestNames& requests) {
  const auto unknown = [&] {
    holder.Add(meta::Invalid(path.ToString(), meta::Quoted(name),
                             "must be the name of a request in the claim or the name of a request and a subrequest "
                             "separated by '/'"));
  };
  if (std::count(name.begin(), name.end(), '/') > 1) {
    unknown();
    return;
  }
  const std::size_t slash = name.find('/');
  const std::string_view request = name.substr(0, slash);
  CheckText(holder, path, request, meta::CheckDnsLabel);
  if (slash != std::string_view::npos) CheckText(holder, path, name.substr(slash + 1), meta::CheckDnsLabel);
  const auto found = requests.find(request);
  const bool known =
      found != requests.end() && (slash == std::string_view::npos || found->second.contains(name.substr(slash + 1)));
  if (!known) unknown();
}

void ValidateBindingConditions(const Check& holder) {
  const auto conditions = TextsOf(holder, "bindingConditions"), failures = TextsOf(holder, "bindingFailureConditions");
  const auto label = [&holder](const meta::Path& path, std::string_view text) {
    CheckText(holder, path, text, meta::CheckQualifiedName);
  };
  ValidateTextSet(holder, "bindingConditions", kMaxConditions, label);
  ValidateTextSet(holder, "bindingFailureConditions", kMaxConditions, label);
  const std::set<std::string_view> known(conditions.begin(), conditions.end());
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (!known.contains(failures[i])) continue;
    holder.Add(meta::Invalid(holder.Path().Child("bindingFailureConditions").Index(i).ToString(),
                             meta::Quoted(failures[i]),
                             "bindingFailureConditions must not overlap with bindingConditions"));
  }
  if (conditions.empty() && !failures.empty())
    holder.Invalid("bindingConditions", "bindingConditions are required to use bindingFailureConditions");
  if (failures.empty() && !conditions.empty())
    holder.Invalid("bindingFailureConditions", "bindingFailureConditions are required to use bindingConditions");
}

void ValidateShareId(const Check& holder) {
  static const re2::RE2 pattern("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  if (!holder.Has("shareID") || re2::RE2::FullMatch(holder.Text("shareID"), pattern)) return;
  holder.Invalid("shareID",
                 "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase "
                 "hexadecimal characters");
}

void ValidateDeviceTaint(const Check& taint) {
  CheckText(taint, taint.Path().Child("key"), taint.Text("key"), meta::CheckQualifiedName);
  taint.Names("value", meta::CheckLabelValue);
  taint.RequireOneOf("effect", {"NoExecute", "NoSchedule", "None"});
}

}  // namespace apimesh::core_api
