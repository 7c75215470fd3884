#include "services/launcher/options/feature_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

/// One element of --feature-gates: "Name=true" or "kube:Name=true".
struct Setting {
  std::string component, name;
  std::optional<std::string> value;
};

std::vector<Setting> Settings(const CommandLine& flags) {
  std::vector<Setting> settings;
  for (const std::string& element : flags.Values("feature-gates")) {
    if (element.empty()) continue;
    const std::size_t colon = element.find(':');
    Setting setting;
    if (colon != element.npos) setting.component = Trimmed(element.substr(0, colon));
    const std::string pair = Trimmed(element.substr(colon == element.npos ? 0 : colon + 1));
    const std::size_t equals = pair.find('=');
    setting.name = Trimmed(pair.substr(0, equals));
    if (equals != pair.npos) setting.value = Trimmed(pair.substr(equals + 1));
    settings.push_back(std::move(setting));
  }
  return settings;
}

/// What is wrong with the spelling of a setting.
std::string SpellingError(const Setting& setting) {
  if (!setting.component.empty() && setting.component != "kube") {
    return fmt::format("component not registered: {}", setting.component);
  }
  if (!setting.value) return fmt::format("missing bool value for {}", setting.name);
  std::string value = *setting.value;
  static constexpr Flag kBoolean{"", "", FlagType::kBool, "", kNobody, ""};
  const std::string error = ValueError(kBoolean, value);
  return error.empty() ? "" : fmt::format("invalid value of {}={}, err: {}", setting.name, *setting.value, error);
}

bool IsTrueText(std::string value) {
  static constexpr Flag kBoolean{"", "", FlagType::kBool, "", kNobody, ""};
  return ValueError(kBoolean, value).empty() && value == "true";
}

}  // namespace

bool FeatureEnabled(const CommandLine& flags, std::string_view name) {
  bool enabled = FindFeatureGate(name)->default_value;
  for (const Setting& setting : Settings(flags)) {
    if (setting.name == name) enabled = IsTrueText(setting.value.value_or("false"));
  }
  return enabled;
}

void CompleteFeatureGates(const CommandLine& flags, Findings& findings) {
  const std::vector<Setting> settings = Settings(flags);
  const auto prefixed = [&](bool wanted) {
    return std::any_of(settings.begin(), settings.end(),
        [&](const Setting& setting) { return setting.component.empty() != wanted; });
  };
  if (prefixed(true) && prefixed(false)) {
    findings.errors.push_back("set kube feature gates with default empty prefix or kube: prefix consistently, do not "
        "mix use");
    return;
  }
  for (const Setting& setting : settings) {
    if (std::string error = SpellingError(setting); !error.empty()) {
      findings.errors.push_back(std::move(error));
      return;
    }
  }
  std::vector<std::string> errors;
  for (const Setting& setting : settings) {
    const FeatureGate* gate = FindFeatureGate(setting.name);
    const bool value = IsTrueText(*setting.value);
    if (!gate) {
      errors = {fmt::format("unrecognized feature gate: {}", setting.name)};
      break;
    }
    if (gate->locked && gate->default_value != value && flags.Values("emulated-version").empty()) {
      errors.push_back(
          fmt::format("cannot set feature gate {} to {}, feature is locked to {}", setting.name, value,
              gate->default_value));
    }
  }
  if (!errors.empty()) findings.errors.push_back(Aggregate(errors));
}

}  // namespace apimesh::launcher
