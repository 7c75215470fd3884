#include "services/launcher/options/feature_gates.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/features/feature_gates.h"
#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

using features::Setting;

/// Gates of features that kube-apiserver has and this server has not.
constexpr std::string_view kNotImplemented[] = {"CBORServingAndStorage", "KMSv1", "ManifestBasedAdmissionControlConfig",
                                                "ShardedListAndWatch"};

std::vector<Setting> Settings(const CommandLine& flags) {
  std::vector<Setting> settings;
  for (const std::string& element : flags.Values("feature-gates")) {
    if (!element.empty()) settings.push_back(features::ParseSetting(element));
  }
  return settings;
}

/// Returns the syntax error of a setting; empty if there is none.
std::string SpellingError(const Setting& setting) {
  if (!setting.component.empty() && setting.component != "kube") {
    return fmt::format("component not registered: {}", setting.component);
  }
  if (!setting.has_value) return fmt::format("missing bool value for {}", setting.name);
  std::string value = setting.value;
  static constexpr Flag kBoolean{"", "", FlagType::kBool, "", flags::kNobody, ""};
  const std::string error = ValueError(kBoolean, value);
  return error.empty() ? "" : fmt::format("invalid value of {}={}, err: {}", setting.name, setting.value, error);
}

/// Returns the first error about an unknown gate, or all errors about locked gates.
std::vector<std::string> GateErrors(const std::vector<Setting>& settings, const features::FeatureGates& gates) {
  std::vector<std::string> errors;
  for (const Setting& setting : settings) {
    const features::Gate* gate = features::FindGate(setting.name);
    if (!gate) return {fmt::format("unrecognized feature gate: {}", setting.name)};
    const bool value = gates.Enabled(gate->name);
    if (gate->locked && gate->default_value != value) {
      errors.push_back(fmt::format("cannot set feature gate {} to {}, feature is locked to {}", setting.name, value,
                                   gate->default_value));
    }
  }
  return errors;
}

/// Returns the errors about features that are on and do not exist here.
std::vector<std::string> MissingFeatureErrors(const features::FeatureGates& gates) {
  std::vector<std::string> errors;
  for (const std::string_view name : kNotImplemented) {
    if (gates.Enabled(name))
      errors.push_back(
          fmt::format("cannot set feature gate {0} to true, this server does not implement it (set {0}=false)", name));
  }
  return errors;
}

}  // namespace

bool FeatureEnabled(const CommandLine& flags, std::string_view name) {
  return features::FeatureGates(flags.Values("feature-gates")).Enabled(name);
}

void CompleteFeatureGates(const CommandLine& flags, Findings& findings) {
  const std::vector<Setting> settings = Settings(flags);
  const auto prefixed = [&](bool wanted) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const Setting& setting) { return setting.component.empty() != wanted; });
  };
  if (prefixed(true) && prefixed(false)) {
    findings.errors.push_back(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not "
        "mix use");
    return;
  }
  for (const Setting& setting : settings) {
    if (std::string error = SpellingError(setting); !error.empty()) {
      findings.errors.push_back(std::move(error));
      return;
    }
  }
  const features::FeatureGates gates(flags.Values("feature-gates"));
  std::vector<std::string> errors = GateErrors(settings, gates);
  if (errors.empty()) errors = features::DependencyErrors(gates);
  if (errors.empty()) errors = MissingFeatureErrors(gates);
  if (!errors.empty()) findings.errors.push_back(Aggregate(errors));
  std::vector<std::string_view> without_effect;
  for (const auto& [name, value] : gates.Set()) {
    const features::Gate& gate = *features::FindGate(name);
    const bool is_stage = gate.name == "AllAlpha" || gate.name == "AllBeta";
    if (value != gate.default_value && !is_stage && !features::HasEffect(name)) without_effect.push_back(name);
  }
  if (!without_effect.empty()) {
    findings.warnings.push_back(
        fmt::format("these feature gates are set to a value other than their default, which has no effect on this "
                    "server: {}",
                    fmt::join(without_effect, ", ")));
  }
}

}  // namespace apimesh::launcher
