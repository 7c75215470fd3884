#include "services/core-api/groups/core/pod/update_rules.h"

#include <map>
#include <set>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

/// Returns false if the lists differ in length; further rules need lists of the same length.
bool ValidateContainerUpdates(const Check& spec, const object& before, const char* list) {
  if (spec.Each(list).size() != Objects(meta::FindField(before, list)).size()) {
    spec.Add(meta::Forbidden(spec.Path().Child(list).ToString(), "pod updates may not add or remove containers"));
    return false;
  }
  for (const Check& container : spec.Each(list)) {
    container.Require("image");
    ValidateImageSpaces(container);
  }
  return true;
}

/// Returns false if the new deadline is wrong; kube-apiserver then reports no further errors.
bool ValidateDeadline(const Check& spec, const object& old) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const auto deadline = spec.Number("activeDeadlineSeconds");
  const value* before = meta::FindField(old, "activeDeadlineSeconds");
  if (!deadline) {
    if (before && before->is_int64()) {
      spec.Add(meta::Invalid(spec.Path().Child("activeDeadlineSeconds").ToString(), "null",
                             "must not update from a positive integer to nil value"));
    }
    return true;
  }
  if (*deadline < 0 || *deadline > kMax) {
    spec.Invalid("activeDeadlineSeconds", fmt::format("must be between 0 and {}, inclusive", kMax));
    return false;
  }
  if (before && before->is_int64() && before->get_int64() < *deadline) {
    spec.Invalid("activeDeadlineSeconds", "must be less than or equal to previous value");
    return false;
  }
  return true;
}

void ValidateAddedTolerations(const Check& spec, const object& old) {
  const auto identity = [](const object& toleration) {  // all fields except tolerationSeconds, which may change
    object copy(toleration);
    meta::EraseField(copy, "tolerationSeconds");
    return boost::json::serialize(copy);
  };
  std::set<std::string> now;
  for (const object& toleration : Objects(meta::FindField(spec.Object(), "tolerations")))
    now.insert(identity(toleration));
  for (const object& before : Objects(meta::FindField(old, "tolerations"))) {
    if (now.contains(identity(before))) continue;
    spec.Add(meta::Forbidden(spec.Path().Child("tolerations").ToString(),
                             "existing toleration can not be modified except its tolerationSeconds"));
    return;
  }
  ValidateTolerations(spec);
}

void ValidateDeletedGates(const Check& spec, const object& old) {
  std::set<std::string_view> before;
  for (const object& gate : Objects(meta::FindField(old, "schedulingGates")))
    before.insert(meta::FindString(gate, "name"));
  for (const Check& gate : spec.Each("schedulingGates")) {
    const std::string_view name = gate.Text("name");
    if (before.insert(name).second) {
      gate.Add(meta::Forbidden(gate.Path().Child("name").ToString(),
                               fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name)));
    }
  }
}

void ValidateNodeSelectorAdditions(const Check& spec, const object& old) {
  const value* now = meta::FindField(spec.Object(), "nodeSelector");
  const value* before = meta::FindField(old, "nodeSelector");
  if (!before || !before->is_object()) return;
  for (const auto& [key, wanted] : before->get_object()) {
    const value* found = now && now->is_object() ? now->get_object().if_contains(key) : nullptr;
    if (found && *found == wanted) continue;
    spec.Add(meta::Invalid(spec.Path().Child("nodeSelector").ToString(), Shown(now),
                           "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    return;
  }
}

bool BeginsWith(const value* list, const value* prefix) {
  if (!prefix || !prefix->is_array() || prefix->get_array().empty()) return true;
  const meta::json::array& wanted = prefix->get_array();
  if (!list || !list->is_array() || list->get_array().size() < wanted.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), list->get_array().begin(),
                    [](const value& a, const value& b) { return meta::Equal(a, b); });
}

bool OnlyAddsTo(const object& term, const object& old) {
  const auto size = [](const object& from, const char* list) { return Objects(meta::FindField(from, list)).size(); };
  const char* const lists[] = {"matchExpressions", "matchFields"};
  const auto empty = [&](const object& from) { return size(from, lists[0]) == 0 && size(from, lists[1]) == 0; };
  if (empty(old) && !empty(term)) return false;  // an empty term matches nothing; an addition would widen the term
  return std::all_of(std::begin(lists), std::end(lists), [&](const char* list) {
    return BeginsWith(meta::FindField(term, list), meta::FindField(old, list));
  });
}

void ValidateNodeAffinityAdditions(const Check& spec, const object& old) {
  const auto terms_of = [](const object& from) {
    return Objects(meta::Find(from, "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"));
  };
  if (!meta::Find(old, "affinity", "nodeAffinity", kRequired)) return;
  const auto now = terms_of(spec.Object()), before = terms_of(old);
  const meta::Path path =
      spec.Path().Child("affinity").Child("nodeAffinity").Child(kRequired).Child("nodeSelectorTerms");
  if (before.empty()) return;
  if (now.size() != before.size()) {
    spec.Add(meta::Invalid(path.ToString(),
                           Shown(meta::Find(spec.Object(), "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms")),
                           "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (OnlyAddsTo(now[i], before[i])) continue;
    const value shown(now[i].get());
    spec.Add(meta::Invalid(path.Index(i).ToString(), Shown(&shown),
                           "only additions are allowed (no mutations or deletions)"));
  }
}

/// Replaces the node affinity of `spec` by that of `old`.
void RestoreNodeAffinity(object& spec, const object& old) {
  const value* before = meta::FindField(old, "affinity");
  const value* affinity_before =
      before && before->is_object() ? before->get_object().if_contains("nodeAffinity") : nullptr;
  value* affinity = meta::FindField(spec, "affinity");
  if (!affinity || !affinity->is_object()) {
    if (affinity_before) spec["affinity"] = object{{"nodeAffinity", *affinity_before}};
    return;
  }
  CopyField(affinity->get_object(), before && before->is_object() ? before->get_object() : object(), "nodeAffinity");
  if (affinity->get_object().empty() && !before) meta::EraseField(spec, "affinity");
}

/// Returns `spec` with all fields that an update of a pod may change replaced by those of `old`.
object WithoutChangeable(const object& spec, const object& old, bool gated) {
  object result(spec);
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = Objects(meta::FindField(result, list));
    const auto old_containers = Objects(meta::FindField(old, list));
    for (std::size_t i = 0; i < containers.size() && i < old_containers.size(); ++i)
      CopyField(containers[i].get(), old_containers[i].get(), "image");
  }
  for (const char* field : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) CopyField(result, old, field);
  const value* grace = meta::FindField(old, "terminationGracePeriodSeconds");
  const value* new_grace = meta::FindField(result, "terminationGracePeriodSeconds");
  if (grace && grace->is_int64() && grace->get_int64() < 0 && new_grace && *new_grace == 1)
    CopyField(result, old, "terminationGracePeriodSeconds");
  if (gated) {
    CopyField(result, old, "nodeSelector");
    RestoreNodeAffinity(result, old);
  }
  return result;
}

}  // namespace

meta::FieldErrors ValidatePodUpdate(const meta::Object& pod, const meta::Object& old) {
  const object& before = PodSpecOf(old);
  // The rules for pods check the metadata again, so that its errors occur once more than for other kinds.
  meta::FieldErrors errors;
  const object& metadata = pod.Metadata();
  const meta::Path path("metadata");
  errors.Append(meta::ValidateLabels(meta::FindField(metadata, "labels"), path.Child("labels")));
  errors.Append(meta::ValidateAnnotations(meta::FindField(metadata, "annotations"), path.Child("annotations")));
  errors.Append(
      meta::ValidateOwnerReferences(meta::FindField(metadata, "ownerReferences"), path.Child("ownerReferences")));
  errors.Append(meta::ValidateFinalizers(meta::FindField(metadata, "finalizers"), path.Child("finalizers")));
  errors.Append(ValidatePodContent(pod, &old));
  ValidateAnnotationChanges(pod, old, errors);
  const Check spec(PodSpecOf(pod), meta::Path("spec"), errors);
  if (!ValidateContainerUpdates(spec, before, "containers") ||
      !ValidateContainerUpdates(spec, before, "initContainers"))
    return errors;
  if (!ValidateDeadline(spec, before)) return errors;
  ValidateAddedTolerations(spec, before);
  ValidateDeletedGates(spec, before);
  if (meta::Equal(spec.Object(), before)) return errors;
  const bool gated = !Objects(meta::FindField(before, "schedulingGates")).empty();
  if (gated) {
    ValidateNodeSelectorAdditions(spec, before);
    ValidateNodeAffinityAdditions(spec, before);
  }
  if (!meta::Equal(WithoutChangeable(spec.Object(), before, gated), before)) {
    errors.push_back(meta::Forbidden(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"));
  }
  return errors;
}

}  // namespace apimesh::core_api
