#include "services/core-api/groups/batch/job/job.h"

#include <limits>
#include <map>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/time.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/batch/job/validation.h"
#include "services/core-api/groups/batch/job_spec/job_spec.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kBackoffLimit = 6;

void DefaultSpec(json::object& spec) {
  if (!spec.contains("parallelism")) {
    if (!spec.contains("completions")) spec["completions"] = 1;
    spec["parallelism"] = 1;
  }
  if (!spec.contains("backoffLimit")) {
    spec["backoffLimit"] =
        spec.contains("backoffLimitPerIndex") ? std::numeric_limits<std::int32_t>::max() : kBackoffLimit;
  }
  if (!spec.contains("completionMode")) spec["completionMode"] = "NonIndexed";
  if (!spec.contains("suspend")) spec["suspend"] = false;
  if (!spec.contains("podReplacementPolicy"))
    spec["podReplacementPolicy"] = spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed";
  if (!spec.contains("manualSelector")) spec["manualSelector"] = false;
}

/// A Job without labels gets those of its template.
void DefaultLabels(json::object& job) {
  const json::value* from = meta::Find(job, "spec", "template", "metadata", "labels");
  if (!from || !from->is_object() || from->get_object().empty()) return;
  json::object& metadata = meta::MakeObject(job, "metadata");
  const json::value* labels = meta::FindField(metadata, "labels");
  if (!labels || !labels->is_object() || labels->get_object().empty()) metadata["labels"] = *from;
}

void SetIfMissing(json::object& labels, const char* key, std::string_view value) {
  if (!labels.contains(key)) labels[key] = json::string(value);
}

void SortByKey(json::object& labels) {
  std::map<std::string, json::value> sorted;
  for (const auto& [key, value] : labels) sorted.emplace(key, value);
  labels.clear();
  for (auto& [key, value] : sorted) labels.emplace(key, std::move(value));
}

/// Generates a selector that matches only the pods of this Job, and the labels of its pods. Labels of the Job that were
/// taken from the template get the generated labels too.
void GenerateSelector(meta::Object& job) {
  json::object& spec = meta::MakeObject(job.Root(), "spec");
  json::object& labels = meta::MakeObject(meta::MakeObject(meta::MakeObject(spec, "template"), "metadata"), "labels");
  const json::value* own = meta::FindField(job.Metadata(), "labels");
  const bool from_template =
      !own || !own->is_object() || own->get_object().empty() || meta::Equal(own->get_object(), labels);
  for (const char* key : {kOldJobName, kJobName}) SetIfMissing(labels, key, job.Name());
  for (const char* key : {kOldControllerUid, kControllerUid}) SetIfMissing(labels, key, job.Uid());
  SortByKey(labels);
  SetIfMissing(meta::MakeObject(meta::MakeObject(spec, "selector"), "matchLabels"), kControllerUid, job.Uid());
  if (from_template) job.Metadata()["labels"] = labels;
}

class JobStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& job) const override {
    json::object& spec = meta::MakeObject(job, "spec");
    DefaultSpec(spec);
    DefaultLabels(job);
    DefaultPodTemplate(spec);
  }

  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& job) const override {
    SpecStrategy::PrepareForCreate(ctx, job);
    meta::FieldErrors unused;
    if (!SpecOf(job, unused).IsTrue("manualSelector")) GenerateSelector(job);
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& job) const override {
    return ValidateJob(job);
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& job,
                                   const meta::Object& old) const override {
    return ValidateJobUpdate(job, old);
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& job,
                                    const meta::Object* old) const override {
    if (old && job.Generation() == old->Generation()) return {};
    std::vector<std::string> warnings;
    if (!old) warnings = PodNameWarnings(job.Name());
    meta::FieldErrors unused;
    for (std::string& warning : JobSpecWarnings(SpecOf(job, unused))) warnings.push_back(std::move(warning));
    return warnings;
  }

  /// Clients of batch/v1 rely on this default.
  bool OrphansByDefault() const override { return true; }
  std::string_view DefaultPropagationWarning() const override {
    return "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them "
           "or set propagationPolicy=Orphan to suppress this warning";
  }
};

class JobStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& job,
                                   const meta::Object& old) const override {
    return ValidateJobStatusUpdate(job, old);
  }
};

std::string CompletionsText(const json::object& job) {
  const std::int64_t succeeded = NumberAt(job, "status", "succeeded");
  if (meta::Find(job, "spec", "completions"))
    return fmt::format("{}/{}", succeeded, NumberAt(job, "spec", "completions"));
  const std::int64_t parallelism = NumberAt(job, "spec", "parallelism");
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism) : fmt::format("{}/1", succeeded);
}

std::string DurationText(const json::object& job, meta::Ages& ages) {
  const std::string_view start = meta::FindString(job, "status", "startTime");
  const std::string_view completion = meta::FindString(job, "status", "completionTime");
  if (start.empty()) return "";
  if (completion.empty()) return ages.Of(start);
  const std::optional<WallTime> from = meta::ParseTime(start);
  const std::optional<WallTime> to = meta::ParseTime(completion);
  return from && to ? meta::HumanDuration(*to - *from) : "";
}

std::string_view StatusText(const meta::Object& job) {
  for (const char* final_condition : {"Complete", "Failed"}) {
    if (HasJobCondition(job, final_condition)) return final_condition;
  }
  if (!job.DeletionTimestamp().empty()) return "Terminating";
  for (const char* condition : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (HasJobCondition(job, condition)) return condition;
  }
  return "Running";
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto [names, images] = ContainerCells(meta::Find(root, "spec", "template"));
  return {json::string(object.Name()),
          json::string(StatusText(object)),
          CompletionsText(root),
          DurationText(root, ages),
          AgeCell(object, ages),
          names,
          images,
          SelectorText(meta::Find(root, "spec", "selector"))};
}

}  // namespace

registry::Resource JobResource(const KindInputs&) {
  registry::Resource resource = FromTable("batch", "v1", "jobs", std::make_shared<JobStrategy>());
  resource.generation = true;
  SubresourceOf(resource, "status").strategy = std::make_shared<JobStatusStrategy>(resource.strategy);
  // The name of this selector differs from the name of the field.
  resource.selectable_fields = {"status.successful"};
  resource.unknown_field_text = "field label \"{}\" not supported for Job";
  resource.read_fields = [](const meta::Object& job) {
    return std::vector<std::string>{fmt::format("{}", NumberAt(job.Root(), "status", "succeeded"))};
  };
  resource.table = {
      {NameColumn(),
       {.name = "Status", .description = "The final condition of the Job, or what it does now."},
       {.name = "Completions", .description = "Pods that succeeded, of those needed."},
       {.name = "Duration", .description = "How long the Job has run."},
       AgeColumn(),
       WideColumn("Containers", "Names of the template's containers."),
       WideColumn("Images", "Images of the template's containers."),
       WideColumn("Selector", "Which pods belong to it.")},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "metadata.deletionTimestamp", "status.conditions",
       "status.succeeded", "status.startTime", "status.completionTime", "spec.completions", "spec.parallelism",
       "spec.template.spec.containers.name", "spec.template.spec.containers.image", "spec.selector"}};
  return resource;
}

}  // namespace apimesh::core_api
