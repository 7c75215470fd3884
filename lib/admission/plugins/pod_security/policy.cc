#include "lib/admission/plugins/pod_security/policy.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace apimesh::admission::pod_security {
namespace {

constexpr std::string_view kLevelNames[] = {"privileged", "baseline", "restricted"};

bool Equivalent(const LevelVersion& a, const LevelVersion& b) {
  return (a.level == Level::kPrivileged && b.level == Level::kPrivileged) || a == b;
}

/// Reads the labels `mode` and `mode`-version.
class Labels {
 public:
  Labels(const meta::Object& namespace_object, meta::FieldErrors& errors)
      : namespace_(namespace_object), errors_(errors) {}

  /// Returns whether the label exists. `valid` is set to whether it could be parsed.
  template <class Value>
  bool Read(std::string_view name, std::string (*parse)(std::string_view, Value&), Value& value, bool& valid) {
    const std::string label = fmt::format("{}{}", kLabelPrefix, name);
    const meta::json::string* text = namespace_.Label(label);
    if (!text) return false;
    const std::string error = parse(*text, value);
    valid = error.empty();
    if (!valid) errors_.push_back(meta::Invalid(fmt::format("metadata.labels[{}]", label), meta::Quoted(*text), error));
    return true;
  }

 private:
  const meta::Object& namespace_;
  meta::FieldErrors& errors_;
};

}  // namespace

std::string LevelVersion::ToString() const {
  const std::string_view name = kLevelNames[static_cast<int>(level)];
  if (version.minor == Version::kLatest) return fmt::format("{}:latest", name);
  return fmt::format("{}:v1.{}", name, version.minor);
}

bool Policy::FullyPrivileged() const {
  return enforce.level == Level::kPrivileged && audit.level == Level::kPrivileged && warn.level == Level::kPrivileged;
}

bool Equivalent(const Policy& a, const Policy& b) {
  return Equivalent(a.enforce, b.enforce) && Equivalent(a.audit, b.audit) && Equivalent(a.warn, b.warn);
}

std::string ParseLevel(std::string_view text, Level& level) {
  const auto found = std::find(std::begin(kLevelNames), std::end(kLevelNames), text);
  level = found == std::end(kLevelNames) ? Level::kRestricted : static_cast<Level>(found - std::begin(kLevelNames));
  return found == std::end(kLevelNames) ? "must be one of privileged, baseline, restricted" : "";
}

std::string ParseVersion(std::string_view text, Version& version) {
  version = {};
  if (text == "latest") return "";
  const std::string error = R"(must be "latest" or "v1.x")";
  if (!text.starts_with("v1.")) return error;
  const std::string_view digits = text.substr(3);
  const bool canonical = !digits.empty() && (digits == "0" || digits[0] != '0') &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!canonical) return error;
  std::int64_t minor = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), minor);
  if (parsed.ec != std::errc()) return error;
  // Versions later than this server all mean the same, but are shown as they were written.
  version.minor = static_cast<int>(std::min<std::int64_t>(minor, std::numeric_limits<int>::max()));
  return "";
}

Policy PolicyOf(const meta::Object& namespace_object, const Policy& defaults, meta::FieldErrors& errors) {
  Policy policy = defaults;
  const meta::json::value* all = meta::FindField(namespace_object.Metadata(), "labels");
  const bool any =
      all && all->is_object() && std::any_of(all->get_object().begin(), all->get_object().end(), [](const auto& label) {
        return std::string_view(label.key()).starts_with(kLabelPrefix);
      });
  if (!any) return policy;
  Labels labels(namespace_object, errors);
  bool valid = false;
  const bool has_enforce = labels.Read("enforce", &ParseLevel, policy.enforce.level, valid) && valid;
  (void)labels.Read("enforce-version", &ParseVersion, policy.enforce.version, valid);
  if (labels.Read("audit", &ParseLevel, policy.audit.level, valid) && !valid) policy.audit.level = Level::kPrivileged;
  (void)labels.Read("audit-version", &ParseVersion, policy.audit.version, valid);
  const bool has_warn = labels.Read("warn", &ParseLevel, policy.warn.level, valid);
  if (has_warn && !valid) policy.warn.level = Level::kPrivileged;
  const bool has_warn_version = labels.Read("warn-version", &ParseVersion, policy.warn.version, valid);
  if (!has_warn && has_enforce && policy.enforce.level > policy.warn.level) {
    policy.warn.level = policy.enforce.level;
    if (!has_warn_version) policy.warn.version = policy.enforce.version;
  }
  return policy;
}

}  // namespace apimesh::admission::pod_security
