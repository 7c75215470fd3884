#include <set>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/batch/job/validation.h"
#include "services/core-api/groups/batch/job_spec/indexes.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::object& StatusOf(const meta::Object& job) {
  static const json::object empty;
  const json::value* status = meta::FindField(job.Root(), "status");
  return status && status->is_object() ? status->get_object() : empty;
}

/// The old and the new state of a Job, and what a write of its status changes.
class Change {
 public:
  Change(const meta::Object& job, const meta::Object& old, meta::FieldErrors& errors)
      : job_(job), old_(old), status_(StatusOf(job), meta::Path("status"), errors), spec_(SpecOf(job, errors)) {}

  const Check& Status() const { return status_; }
  const Check& Spec() const { return spec_; }
  const json::object& OldStatus() const { return StatusOf(old_); }

  bool Is(std::string_view condition) const { return HasJobCondition(job_, condition); }
  bool Was(std::string_view condition) const { return HasJobCondition(old_, condition); }
  bool Became(std::string_view condition) const { return Is(condition) != Was(condition); }
  bool IsFinished() const { return Is("Complete") || Is("Failed"); }
  bool FinishedChanged() const { return IsFinished() != (Was("Complete") || Was("Failed")); }
  bool Resumes() const { return Was("Suspended") && HasJobCondition(job_, "Suspended", "False"); }

  bool Changed(std::string_view field) const {
    return !meta::Equal(meta::FindField(status_.Object(), field), meta::FindField(OldStatus(), field));
  }
  std::int64_t Count(std::string_view field) const { return status_.Number(field).value_or(0); }
  std::int64_t OldCount(std::string_view field) const {
    const json::value* value = meta::FindField(OldStatus(), field);
    return value && value->is_int64() ? value->get_int64() : 0;
  }

  void Require(std::string_view field, std::string detail) const {
    status_.Add(meta::Required(status_.Path().Child(field).ToString(), std::move(detail)));
  }
  void InvalidCount(std::string_view field, std::string detail) const {
    status_.Add(
        meta::Invalid(status_.Path().Child(field).ToString(), fmt::format("{}", Count(field)), std::move(detail)));
  }
  void InvalidConditions(std::string detail) const {
    status_.Add(meta::Invalid("status.conditions", "", std::move(detail)));
  }

 private:
  const meta::Object& job_;
  const meta::Object& old_;
  Check status_;
  Check spec_;
};

std::size_t ListSize(const json::object& object, std::string_view field) {
  const json::value* list = meta::FindField(object, field);
  return list && list->is_array() ? list->get_array().size() : 0;
}

void ValidateUncounted(const Check& uncounted) {
  std::set<std::string_view> seen;
  for (const char* field : {"succeeded", "failed"}) {
    const json::value* list = meta::FindField(uncounted.Object(), field);
    if (!list || !list->is_array()) continue;
    for (std::size_t i = 0; i < list->get_array().size(); ++i) {
      const json::value& item = list->get_array()[i];
      const std::string_view uid = item.is_string() ? std::string_view(item.get_string()) : std::string_view();
      const std::string path = uncounted.Path().Child(field).Index(i).ToString();
      if (uid.empty()) {
        uncounted.Add(meta::Invalid(path, "\"\"", "must not be empty"));
      } else if (!seen.insert(uid).second) {
        uncounted.Add(meta::Duplicate(path, meta::Quoted(uid)));
      }
    }
  }
}

/// Returns the value as kube-apiserver shows it: its internal type has other names.
std::string ShownUncounted(const Check& uncounted) {
  return fmt::format(R"({{"Succeeded":{},"Failed":{}}})", Shown(meta::FindField(uncounted.Object(), "succeeded")),
                     Shown(meta::FindField(uncounted.Object(), "failed")));
}

void ValidateTimes(const Change& change) {
  const Check& status = change.Status();
  const bool complete = change.Is("Complete");
  const bool has_completion = status.Has("completionTime");
  if (change.Became("Complete") || change.Changed("completionTime")) {
    if (has_completion && !complete)
      status.Invalid("completionTime", "cannot set completionTime when there is no Complete=True condition");
    if (!has_completion && complete) change.Require("completionTime", "completionTime is required for Complete jobs");
  }
  if (!change.Changed("startTime") && !change.Changed("completionTime")) return;
  const std::optional<WallTime> start = meta::ParseTime(status.Text("startTime"));
  const std::optional<WallTime> completion = meta::ParseTime(status.Text("completionTime"));
  if (start && completion && *completion < *start)
    status.Invalid("completionTime", "must be equal to or after `startTime`");
}

void ValidateFinished(const Change& change) {
  const bool finished = change.IsFinished();
  const bool became = change.FinishedChanged();
  if ((became || change.Changed("active")) && change.Count("active") > 0 && finished)
    change.InvalidCount("active", "active>0 is invalid for finished job");
  const bool never_ran =
      change.Spec().IsTrue("suspend") && change.Spec().Number("completions") == std::optional<std::int64_t>(0);
  if ((became || change.Changed("startTime")) && !never_ran && !change.Status().Has("startTime") && finished)
    change.Require("startTime", "startTime is required for finished job");
  const std::optional<Check> uncounted = change.Status().Child("uncountedTerminatedPods");
  if ((became || change.Changed("uncountedTerminatedPods")) && finished && uncounted &&
      ListSize(uncounted->Object(), "failed") + ListSize(uncounted->Object(), "succeeded") > 0) {
    uncounted->Add(
        meta::Invalid(uncounted->Path().ToString(), ShownUncounted(*uncounted), "must be empty for finished job"));
  }
}

void ValidateIndexes(const Change& change) {
  const Check& status = change.Status();
  const std::optional<std::int64_t> completions = change.Spec().Number("completions");
  const bool limited = change.Spec().Has("backoffLimitPerIndex");
  const bool completed_changed = change.Changed("completedIndexes");
  const bool failed_changed = change.Changed("failedIndexes");
  const auto check = [&status, &completions](std::string_view field) {
    const std::string error = CheckIndexes(status.Text(field), *completions);
    if (!error.empty()) status.Invalid(field, fmt::format("error parsing {}: {}", field, error));
  };
  if (completed_changed && completions) check("completedIndexes");
  if (failed_changed && completions && limited && status.Has("failedIndexes")) check("failedIndexes");
  if (completed_changed && !status.Text("completedIndexes").empty() &&
      change.Spec().Text("completionMode") != "Indexed") {
    status.Invalid("completedIndexes", "cannot set non-empty completedIndexes when non-indexed completion mode");
  }
  if (failed_changed && !limited && status.Has("failedIndexes"))
    status.Invalid("failedIndexes", "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
  if ((failed_changed || completed_changed) && completions) {
    const std::string error =
        CheckDisjoint(status.Text("completedIndexes"), status.Text("failedIndexes"), *completions);
    if (!error.empty()) status.Invalid("failedIndexes", error);
  }
}

/// The rules about combinations of conditions that are checked before the finished state.
void ValidateConditions(const Change& change) {
  const bool complete = change.Is("Complete");
  if ((change.Became("Complete") || change.Became("Failed")) && complete && change.Is("Failed"))
    change.InvalidConditions("cannot set Complete=True and Failed=true conditions");
  if ((change.Became("Complete") || change.Became("FailureTarget")) && complete && change.Is("FailureTarget"))
    change.InvalidConditions("cannot set Complete=True and FailureTarget=true conditions");
  ValidateTimes(change);
  if ((change.Became("Failed") || change.Changed("failedIndexes")) && change.Is("Failed") &&
      !change.Is("FailureTarget"))
    change.InvalidConditions("cannot set Failed=True condition without the FailureTarget=true condition");
  if ((change.Became("Complete") || change.Became("SuccessCriteriaMet")) && complete &&
      !change.Is("SuccessCriteriaMet")) {
    change.InvalidConditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
}

void ValidateSuccessCriteria(const Change& change) {
  const bool met = change.Is("SuccessCriteriaMet");
  if (met && change.Is("Failed"))
    change.InvalidConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
  if (met && change.Is("FailureTarget"))
    change.InvalidConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  if (change.Spec().Has("successPolicy") && !met && change.Is("Complete")) {
    change.InvalidConditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
}

void ValidateStatus(const Change& change) {
  const Check& status = change.Status();
  for (const char* field : {"active", "succeeded", "failed", "ready", "terminating"}) status.NonNegative(field);
  if (const std::optional<Check> uncounted = status.Child("uncountedTerminatedPods")) ValidateUncounted(*uncounted);
  ValidateConditions(change);
  ValidateFinished(change);
  ValidateIndexes(change);
  if ((change.FinishedChanged() || change.Changed("terminating")) && change.Count("terminating") > 0 &&
      change.IsFinished()) {
    change.InvalidCount("terminating", "terminating>0 is invalid for finished job");
  }
  if ((change.Changed("ready") || change.Changed("active")) && change.Count("ready") > change.Count("active"))
    change.InvalidCount("ready", "cannot set more ready pods than active");
  ValidateSuccessCriteria(change);
}

void ValidateTransition(const Change& change) {
  const Check& status = change.Status();
  const Check& spec = change.Spec();
  for (const char* condition : {"Failed", "Complete", "FailureTarget"}) {
    if (change.Was(condition) && !change.Is(condition))
      change.InvalidConditions(fmt::format("cannot disable the terminal {}=True condition", condition));
  }
  if (change.Count("failed") < change.OldCount("failed"))
    change.InvalidCount("failed", "cannot decrease the failed counter");
  const bool scales_down =
      spec.Text("completionMode") == "Indexed" && spec.Number("completions") == spec.Number("parallelism");
  if (!scales_down && change.Count("succeeded") < change.OldCount("succeeded"))
    change.InvalidCount("succeeded", "cannot decrease the succeeded counter");
  const bool had_completion = !meta::FindString(change.OldStatus(), "completionTime").empty();
  if (status.Has("completionTime") && had_completion && change.Changed("completionTime"))
    status.Invalid("completionTime", "field is immutable");
  const bool had_start = !meta::FindString(change.OldStatus(), "startTime").empty();
  if (change.Changed("startTime") && !change.Resumes() && had_start && !spec.IsTrue("suspend"))
    status.Invalid("startTime", "field is immutable for unsuspended job once set");
  const bool met = change.Is("SuccessCriteriaMet");
  const bool was_met = change.Was("SuccessCriteriaMet");
  if (was_met && !met) change.InvalidConditions("cannot disable the SuccessCriteriaMet=True condition");
  if (change.Was("Complete") && !was_met && met) {
    change.InvalidConditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}

}  // namespace

bool HasJobCondition(const meta::Object& job, std::string_view type, std::string_view status) {
  for (const json::object& condition : Objects(meta::Find(job.Root(), "status", "conditions"))) {
    if (meta::FindString(condition, "type") == type && meta::FindString(condition, "status") == status) return true;
  }
  return false;
}

meta::FieldErrors ValidateJobStatusUpdate(const meta::Object& job, const meta::Object& old) {
  meta::FieldErrors errors;
  const Change change(job, old, errors);
  ValidateStatus(change);
  ValidateTransition(change);
  return errors;
}

}  // namespace apimesh::core_api
