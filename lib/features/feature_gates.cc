#include "lib/features/feature_gates.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace apimesh::features {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha", kAllBeta = "AllBeta";

constexpr std::string_view kWithEffect[] = {
#define APIMESH_GATE(name) #name,
#include "lib/features/gates.inc"
#undef APIMESH_GATE
};

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

}  // namespace

bool HasEffect(std::string_view name) {
  return std::find(std::begin(kWithEffect), std::end(kWithEffect), name) != std::end(kWithEffect);
}

Setting ParseSetting(std::string_view element) {
  Setting setting;
  if (const std::size_t colon = element.find(':'); colon != element.npos) {
    setting.component = Trimmed(element.substr(0, colon));
    element.remove_prefix(colon + 1);
  }
  const std::size_t equals = element.find('=');
  setting.name = Trimmed(element.substr(0, equals));
  setting.has_value = equals != element.npos;
  if (setting.has_value) setting.value = Trimmed(element.substr(equals + 1));
  return setting;
}

FeatureGates::FeatureGates(const std::vector<std::string>& settings) {
  for (const std::string& element : settings) {
    Setting setting = ParseSetting(element);
    const std::optional<bool> value = ParseBool(setting.value);
    if (value && FindGate(setting.name)) set_[std::move(setting.name)] = *value;
  }
  for (const auto& [all, stage] : {std::pair(kAllAlpha, Stage::kAlpha), std::pair(kAllBeta, Stage::kBeta)}) {
    const auto found = set_.find(all);
    if (found == set_.end()) continue;
    const bool value = found->second;
    for (const Gate& gate : AllGates()) {
      if (gate.stage == stage && gate.name != kAllAlpha && gate.name != kAllBeta) {
        set_.try_emplace(std::string(gate.name), value);
      }
    }
  }
}

bool FeatureGates::Enabled(std::string_view gate) const {
  const auto found = set_.find(gate);
  return found != set_.end() ? found->second : FindGate(gate)->default_value;
}

std::vector<std::string> DependencyErrors(const FeatureGates& gates) {
  std::map<std::string_view, std::vector<std::string_view>> missing;
  for (const Dependency& dependency : AllDependencies()) {
    if (gates.Enabled(dependency.gate) && !gates.Enabled(dependency.needs)) {
      missing[dependency.gate].push_back(dependency.needs);
    }
  }
  std::vector<std::string> errors;
  for (const auto& [gate, needs] : missing) {
    errors.push_back(
        fmt::format("{} is enabled, but depends on features that are disabled: [{}]", gate, fmt::join(needs, " ")));
  }
  return errors;
}

}  // namespace apimesh::features
