#include "services/core-api/groups/core/pod/match_label_keys.h"

#include "services/core-api/features/rule_features.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::array;
using meta::json::object;
using meta::json::value;

/// Adds one requirement per key in `field` of a term for which the pod has a label.
void AddRequirements(object& term, const char* field, const char* op, const object& labels) {
  const value* keys = meta::FindField(term, field);
  value* selector = meta::FindField(term, "labelSelector");
  if (!keys || !keys->is_array() || !selector || !selector->is_object()) return;
  for (const value& key : keys->get_array()) {
    if (!key.is_string()) continue;
    const value* label = labels.if_contains(key.get_string());
    if (!label) continue;
    value& expressions = selector->get_object()["matchExpressions"];
    if (!expressions.is_array()) expressions.emplace_array();
    expressions.get_array().push_back(object{{"key", key}, {"operator", op}, {"values", array{*label}}});
  }
}

void ApplyToAffinity(object& affinity, const object& labels) {
  const auto apply = [&](object& term) {
    AddRequirements(term, "matchLabelKeys", "In", labels);
    AddRequirements(term, "mismatchLabelKeys", "NotIn", labels);
  };
  for (object& term : Objects(meta::FindField(affinity, "requiredDuringSchedulingIgnoredDuringExecution"))) apply(term);
  for (object& weighted : Objects(meta::FindField(affinity, "preferredDuringSchedulingIgnoredDuringExecution"))) {
    value* term = meta::FindField(weighted, "podAffinityTerm");
    if (term && term->is_object()) apply(term->get_object());
  }
}

}  // namespace

void ApplyMatchLabelKeys(meta::Object& pod) {
  const value* found = meta::FindField(pod.Metadata(), "labels");
  value* spec = meta::FindField(pod.Root(), "spec");
  if (!found || !found->is_object() || !spec || !spec->is_object()) return;
  const object& labels = found->get_object();
  if (value* affinity = meta::FindField(spec->get_object(), "affinity"); affinity && affinity->is_object()) {
    for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
      value* terms = meta::FindField(affinity->get_object(), kind);
      if (terms && terms->is_object()) ApplyToAffinity(terms->get_object(), labels);
    }
  }
  const RuleFeatures& features = ActiveRuleFeatures();
  if (!features.match_label_keys_in_pod_topology_spread ||
      !features.match_label_keys_in_pod_topology_spread_selector_merge) {
    return;
  }
  for (object& constraint : Objects(meta::FindField(spec->get_object(), "topologySpreadConstraints")))
    AddRequirements(constraint, "matchLabelKeys", "In", labels);
}

}  // namespace apimesh::core_api
