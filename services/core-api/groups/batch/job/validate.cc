#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "lib/meta/selectors/selector.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/batch/job/validation.h"
#include "services/core-api/groups/batch/job_spec/job_spec.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::value* TemplateLabels(const meta::Object& job) {
  return meta::Find(job.Root(), "spec", "template", "metadata", "labels");
}

bool HasTemplateLabel(const meta::Object& job, std::string_view key) {
  const json::value* labels = TemplateLabels(job);
  return labels && labels->is_object() && meta::FindField(labels->get_object(), key);
}

void RequireTemplateLabel(const meta::Object& job, std::string_view key, std::string_view value,
                          meta::FieldErrors& errors) {
  const json::value* labels = TemplateLabels(job);
  const std::string path = meta::Path("spec.template.metadata.labels").Key(key).ToString();
  if (!HasTemplateLabel(job, key)) {
    errors.push_back(meta::Required(path, fmt::format("must be '{}'", value)));
  } else if (meta::FindString(labels->get_object(), key) != value) {
    errors.push_back(meta::Invalid(path, Shown(labels), fmt::format("must be '{}'", value)));
  }
}

/// Checks that selector and labels are those that GenerateSelector() made. `prefixed`: also the labels with the prefix
/// batch.kubernetes.io, which old Jobs do not have.
void ValidateGeneratedSelector(const meta::Object& job, bool prefixed, meta::FieldErrors& errors) {
  const Check spec = SpecOf(job, errors);
  const std::optional<Check> selector = spec.Child("selector");
  if (spec.IsTrue("manualSelector") || !selector) return;
  if (job.Uid().empty()) errors.push_back(meta::Required("metadata.uid", ""));
  meta::Labels expected = {{kOldControllerUid, std::string(job.Uid())}, {kOldJobName, std::string(job.Name())}};
  RequireTemplateLabel(job, kOldControllerUid, job.Uid(), errors);
  RequireTemplateLabel(job, kOldJobName, job.Name(), errors);
  if (prefixed) {
    RequireTemplateLabel(job, kControllerUid, job.Uid(), errors);
    RequireTemplateLabel(job, kJobName, job.Name(), errors);
    expected.emplace_back(kControllerUid, std::string(job.Uid()));
    expected.emplace_back(kJobName, std::string(job.Name()));
  }
  std::sort(expected.begin(), expected.end());
  const meta::Result<meta::LabelSelector> parsed = meta::LabelSelector::FromObject(selector->Object());
  if (parsed && !parsed->Matches(expected)) spec.Invalid("selector", "`selector` not auto-generated");
}

void ValidateSpec(const meta::Object& job, meta::FieldErrors& errors) {
  const Check spec = SpecOf(job, errors);
  ValidateJobSpec(spec);
  if (const std::optional<Check> selector = spec.Child("selector")) {
    errors.Append(meta::ValidateLabelSelector(selector->Object(), selector->Path()));
    ValidateTemplateLabels(spec);
  } else {
    errors.push_back(meta::Required("spec.selector", ""));
    errors.push_back(meta::Invalid("spec.template.metadata.labels", Shown(TemplateLabels(job)),
                                   "`selector` does not match template `labels`"));
  }
}

/// The pods of an Indexed Job have the name of the Job and their index as host name.
void ValidateHostNames(const meta::Object& job, meta::FieldErrors& errors) {
  const Check spec = SpecOf(job, errors);
  const std::int64_t completions = spec.Number("completions").value_or(0);
  if (spec.Text("completionMode") != "Indexed" || completions <= 0) return;
  const std::string longest = fmt::format("{}-{}", job.Name(), completions - 1);
  if (meta::CheckDnsLabel(longest).empty()) return;
  errors.push_back(meta::Invalid("metadata.name", meta::Quoted(job.Name()),
                                 "will not able to create pod with invalid DNS label: " + longest));
}

meta::FieldErrors ValidateWith(const meta::Object& job, bool prefixed) {
  meta::FieldErrors errors;
  ValidateGeneratedSelector(job, prefixed, errors);
  ValidateSpec(job, errors);
  ValidateHostNames(job, errors);
  return errors;
}

void ValidateCompletions(const Check& spec, const meta::Object& old) {
  if (spec.Text("completionMode") != "Indexed") return ValidateImmutable("completions", spec, old);
  const std::optional<std::int64_t> now = spec.Number("completions");
  if (!now || meta::Equal(meta::FindField(spec.Object(), "completions"), meta::Find(old.Root(), "spec", "completions")))
    return;
  if (*now != spec.Number("parallelism").value_or(0))
    spec.Invalid("completions", "can only be modified in tandem with spec.parallelism");
}

/// Copies a field from one object to another, also if it is missing.
void Copy(std::string_view field, const json::object& from, json::object& to) {
  if (const json::value* value = meta::FindField(from, field)) {
    to[json::string_view(field.data(), field.size())] = *value;
  } else {
    meta::EraseField(to, field);
  }
}

/// Makes the fields of the old template that a suspended Job may change equal to the new ones.
void CopySchedulingDirectives(const json::object& now, json::object& old) {
  json::object& old_spec = meta::MakeObject(old, "spec");
  static const json::object empty;
  const json::value* found = meta::FindField(now, "spec");
  const json::object& spec = found && found->is_object() ? found->get_object() : empty;
  const json::value* affinity = meta::FindField(spec, "affinity");
  if (affinity && affinity->is_object()) {
    Copy("nodeAffinity", affinity->get_object(), meta::MakeObject(old_spec, "affinity"));
  } else if (json::value* before = meta::FindField(old_spec, "affinity"); before && before->is_object()) {
    meta::EraseField(before->get_object(), "nodeAffinity");
    if (before->get_object().empty()) meta::EraseField(old_spec, "affinity");
  }
  for (const char* field : {"nodeSelector", "tolerations", "schedulingGates"}) Copy(field, spec, old_spec);
  const json::value* metadata = meta::FindField(now, "metadata");
  for (const char* field : {"annotations", "labels"}) {
    Copy(field, metadata && metadata->is_object() ? metadata->get_object() : empty, meta::MakeObject(old, "metadata"));
  }
}

/// Makes the resources of the old containers equal to the new ones, where the lists have the same names.
void CopyResources(const json::object& now, json::object& old) {
  for (const char* list : {"containers", "initContainers"}) {
    const auto after = Objects(meta::FindField(now, list));
    const auto before = Objects(meta::FindField(old, list));
    if (after.size() != before.size()) continue;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (meta::FindString(after[i].get(), "name") == meta::FindString(before[i].get(), "name"))
        Copy("resources", after[i].get(), before[i].get());
    }
  }
}

json::object ObjectAt(const meta::Object& job, std::string_view a, std::string_view b) {
  const json::value* found = meta::Find(job.Root(), a, b);
  return found && found->is_object() ? found->get_object() : json::object();
}

/// The template is immutable, except that a suspended Job without active pods may change where its pods run and what
/// resources they have.
void ValidateTemplateUpdate(const Check& spec, const meta::Object& job, const meta::Object& old) {
  const json::value* suspend = meta::Find(old.Root(), "spec", "suspend");
  const json::value* active = meta::Find(old.Root(), "status", "active");
  const bool suspended = suspend && suspend->is_bool() && suspend->get_bool();
  const bool stopped = meta::FindString(old.Root(), "status", "startTime").empty() || HasJobCondition(old, "Suspended");
  const bool has_active = active && active->is_int64() && active->get_int64() != 0;
  const bool mutable_template = suspended && stopped && !has_active;
  const RuleFeatures& features = ActiveRuleFeatures();
  const bool never_started = meta::FindString(old.Root(), "status", "startTime").empty();
  const bool mutable_directives =
      features.mutable_scheduling_directives_for_suspended_jobs ? mutable_template : suspended && never_started;
  const bool mutable_resources = features.mutable_pod_resources_for_suspended_jobs && mutable_template;
  if (!mutable_directives && !mutable_resources) return ValidateImmutable("template", spec, old);
  const json::object now = ObjectAt(job, "spec", "template");
  json::object before = ObjectAt(old, "spec", "template");
  if (mutable_directives) CopySchedulingDirectives(now, before);
  const json::value* pod = meta::FindField(now, "spec");
  json::object& old_pod = meta::MakeObject(before, "spec");
  if (!pod || !pod->is_object()) return;
  if (mutable_resources) CopyResources(pod->get_object(), old_pod);
  if (!meta::Equal(pod->get_object(), old_pod)) {
    spec.Add(meta::Invalid(spec.Path().Child("template").Child("spec").ToString(), Shown(pod), "field is immutable"));
  }
}

}  // namespace

meta::FieldErrors ValidateJob(const meta::Object& job) { return ValidateWith(job, true); }

meta::FieldErrors ValidateJobUpdate(const meta::Object& job, const meta::Object& old) {
  meta::FieldErrors errors =
      ValidateWith(job, HasTemplateLabel(old, kJobName) && HasTemplateLabel(old, kControllerUid));
  // kube-apiserver validates the spec twice in an update and reports its errors twice.
  ValidateSpec(job, errors);
  const Check spec = SpecOf(job, errors);
  ValidateCompletions(spec, old);
  ValidateImmutable("selector", spec, old);
  ValidateTemplateUpdate(spec, job, old);
  for (const char* field : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"})
    ValidateImmutable(field, spec, old);
  return errors;
}

}  // namespace apimesh::core_api
