#include "services/core-api/groups/batch/cronjob/cronjob.h"

#include "lib/base/text/text.h"
#include "lib/meta/equal.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/batch/cronjob/schedule.h"
#include "services/core-api/groups/batch/job_spec/job_spec.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxNameLength = 52;  // the controller appends 11 characters to name the Jobs

bool NamesTimeZone(std::string_view schedule) { return schedule.find("TZ") != std::string_view::npos; }

void ValidateSchedule(const Check& spec, const meta::Object* old) {
  if (!spec.Require("schedule")) return;
  const std::string_view schedule = spec.Text("schedule");
  if (const std::string error = CheckSchedule(schedule); !error.empty()) spec.Invalid("schedule", error);
  if (!NamesTimeZone(schedule)) return;
  // Objects that were stored before this rule existed may keep a time zone in the schedule.
  if (!old || !NamesTimeZone(meta::FindString(old->Root(), "spec", "schedule"))) {
    spec.Invalid("schedule", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (spec.Has("timeZone")) {
    spec.Invalid("schedule", "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

void ValidateTimeZone(const Check& spec, const meta::Object* old) {
  if (!spec.Has("timeZone")) return;
  const json::value* now = meta::FindField(spec.Object(), "timeZone");
  if (old && meta::Equal(now, meta::Find(old->Root(), "spec", "timeZone"))) return;
  const std::string_view zone = spec.Text("timeZone");
  if (zone.empty()) return spec.Invalid("timeZone", "timeZone must be nil or non-empty string");
  if (LowerCase(zone) == "local") {
    spec.Invalid("timeZone", "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  if (const std::string error = CheckTimeZone(zone); !error.empty()) spec.Invalid("timeZone", error);
}

void ValidateJobTemplate(const Check& spec) {
  static const json::object empty;
  const json::value* found = meta::Find(spec.Object(), "jobTemplate", "spec");
  meta::FieldErrors errors;
  const Check job(found && found->is_object() ? found->get_object() : empty,
                  spec.Path().Child("jobTemplate").Child("spec"), errors);
  ValidateJobSpec(job);
  if (job.Has("selector")) job.Invalid("selector", "`selector` will be auto-generated");
  if (job.IsTrue("manualSelector"))
    errors.push_back(meta::NotSupported(job.Path().Child("manualSelector").ToString(), "true", {"nil", "false"}));
  for (meta::FieldError& error : errors) spec.Add(std::move(error));
}

meta::FieldErrors ValidateCronJob(const meta::Object& object, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(object, errors);
  ValidateSchedule(spec, old);
  spec.NonNegative("startingDeadlineSeconds");
  ValidateTimeZone(spec, old);
  spec.RequireOneOf("concurrencyPolicy", {"Allow", "Forbid", "Replace"});
  ValidateJobTemplate(spec);
  spec.NonNegative("successfulJobsHistoryLimit");
  spec.NonNegative("failedJobsHistoryLimit");
  if (!old && object.Name().size() > kMaxNameLength)
    errors.push_back(meta::Invalid("metadata.name", meta::Quoted(object.Name()), meta::MaxLengthText(kMaxNameLength)));
  return errors;
}

class CronJobStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    json::value* job = meta::Find(meta::MakeObject(object, "spec"), "jobTemplate", "spec");
    if (job && job->is_object()) DefaultPodTemplate(job->get_object());
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateCronJob(object, nullptr);
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateCronJob(object, &old);
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (!old) warnings = PodNameWarnings(object.Name());
    if (!old || object.Generation() != old->Generation()) {
      static const json::object empty;
      const json::value* found = meta::Find(object.Root(), "spec", "jobTemplate", "spec");
      meta::FieldErrors unused;
      const Check job(found && found->is_object() ? found->get_object() : empty, meta::Path("spec.jobTemplate.spec"),
                      unused);
      for (std::string& warning : JobSpecWarnings(job)) warnings.push_back(std::move(warning));
    }
    // The path in this message is that of kube-apiserver.
    if (old && NamesTimeZone(meta::FindString(object.Root(), "spec", "schedule"))) {
      warnings.push_back(
          "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
          "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
    }
    return warnings;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto [names, images] = ContainerCells(meta::Find(root, "spec", "jobTemplate", "spec", "template"));
  const std::string_view last = meta::FindString(root, "status", "lastScheduleTime");
  const json::value* active = meta::Find(root, "status", "active");
  return {json::string(object.Name()),
          json::string(meta::FindString(root, "spec", "schedule")),
          TextCell(meta::FindString(root, "spec", "timeZone"), "<none>"),
          json::string(FlagText(meta::Find(root, "spec", "suspend"))),
          static_cast<std::int64_t>(Objects(active).size()),
          last.empty() ? json::value("<none>") : SinceCell(last, ages),
          AgeCell(object, ages),
          names,
          images,
          SelectorText(meta::Find(root, "spec", "jobTemplate", "spec", "selector"))};
}

}  // namespace

registry::Resource CronJobResource(const KindInputs&) {
  registry::Resource resource = FromTable("batch", "v1", "cronjobs", std::make_shared<CronJobStrategy>());
  resource.generation = true;
  resource.table = {{NameColumn(),
                     {.name = "Schedule", .description = "When Jobs are started, in the notation of cron."},
                     {.name = "Timezone", .description = "The time zone of the schedule."},
                     {.name = "Suspend", .type = "boolean", .description = "Whether no further Jobs are started."},
                     IntegerColumn("Active", "Jobs that run now."),
                     {.name = "Last Schedule", .description = "Time since a Job was started by the schedule."},
                     AgeColumn(),
                     WideColumn("Containers", "Names of the template's containers."),
                     WideColumn("Images", "Images of the template's containers."),
                     WideColumn("Selector", "Which pods belong to its Jobs.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.schedule", "spec.timeZone", "spec.suspend",
                     "status.active", "status.lastScheduleTime", "spec.jobTemplate.spec.template.spec.containers.name",
                     "spec.jobTemplate.spec.template.spec.containers.image", "spec.jobTemplate.spec.selector"}};
  return resource;
}

}  // namespace apimesh::core_api
