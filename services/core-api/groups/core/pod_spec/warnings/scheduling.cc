#include <fmt/format.h>

#include "services/core-api/groups/core/node/deprecated_labels.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Warnings = std::vector<std::string>;

constexpr const char* kNoSelector = "{}: a null labelSelector results in matching no pod";

/// `values`: also report label values that no node can have.
void WarnAboutTerm(const Check& term, bool values, Warnings& warnings) {
  for (const Check& expression : term.Each("matchExpressions")) {
    const std::string_view key = expression.Text("key");
    if (const std::string_view why = DeprecatedNodeLabel(key); !why.empty())
      warnings.push_back(fmt::format("{}: {} is {}", expression.Path().Child("key").ToString(), key, why));
    const json::value* list = meta::FindField(expression.Object(), "values");
    if (!values || !list || !list->is_array()) continue;
    for (std::size_t i = 0; i < list->get_array().size(); ++i) {
      if (!list->get_array()[i].is_string()) continue;
      const std::string_view value = list->get_array()[i].get_string();
      for (const std::string& complaint : meta::CheckLabelValue(value)) {
        warnings.push_back(fmt::format("{}: {} is invalid, {}", expression.Path().Child("values").Index(i).ToString(),
                                       value, complaint));
      }
    }
  }
}

void WarnAboutNodeAffinity(const Check& affinity, Warnings& warnings) {
  if (const std::optional<Check> required = affinity.Child("requiredDuringSchedulingIgnoredDuringExecution")) {
    for (const Check& term : required->Each("nodeSelectorTerms")) WarnAboutTerm(term, false, warnings);
  }
  for (const Check& term : affinity.Each("preferredDuringSchedulingIgnoredDuringExecution")) {
    if (const std::optional<Check> preference = term.Child("preference")) WarnAboutTerm(*preference, true, warnings);
  }
}

}  // namespace

void WarnAboutScheduling(const Check& spec, Warnings& warnings) {
  if (const std::optional<Check> selector = spec.Child("nodeSelector")) {
    for (const auto& [key, value] : selector->Object()) {
      if (const std::string_view why = DeprecatedNodeLabel(key); !why.empty())
        warnings.push_back(fmt::format("{}: {}", selector->Path().Key(std::string_view(key)).ToString(), why));
    }
  }
  const std::optional<Check> affinity = spec.Child("affinity");
  if (const std::optional<Check> node = affinity ? affinity->Child("nodeAffinity") : std::nullopt)
    WarnAboutNodeAffinity(*node, warnings);
  for (const Check& constraint : spec.Each("topologySpreadConstraints")) {
    const std::string_view key = constraint.Text("topologyKey");
    if (const std::string_view why = DeprecatedNodeLabel(key); !why.empty())
      warnings.push_back(fmt::format("{}: {} is {}", constraint.Path().Child("topologyKey").ToString(), key, why));
    if (!constraint.Has("labelSelector"))
      warnings.push_back(fmt::format(kNoSelector, constraint.Path().Child("labelSelector").ToString()));
  }
}

void WarnAboutPodAffinity(const Check& spec, Warnings& warnings) {
  const std::optional<Check> affinity = spec.Child("affinity");
  if (!affinity) return;
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const std::optional<Check> pods = affinity->Child(kind);
    if (!pods) continue;
    for (const Check& term : pods->Each("requiredDuringSchedulingIgnoredDuringExecution")) {
      if (!term.Has("labelSelector"))
        warnings.push_back(fmt::format(kNoSelector, term.Path().Child("labelSelector").ToString()));
    }
    for (const Check& weighted : pods->Each("preferredDuringSchedulingIgnoredDuringExecution")) {
      const std::optional<Check> term = weighted.Child("podAffinityTerm");
      if (term && term->Has("labelSelector")) continue;
      warnings.push_back(
          fmt::format(kNoSelector, weighted.Path().Child("podAffinityTerm").Child("labelSelector").ToString()));
    }
  }
}

}  // namespace apimesh::core_api
