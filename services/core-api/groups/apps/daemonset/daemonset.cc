#include "services/core-api/groups/apps/daemonset/daemonset.h"

#include <charconv>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/apps/workload/workload.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Counts the changes of the template. It was a field in older API versions and is kept in an annotation.
constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

std::int64_t TemplateGeneration(const meta::Object& object) {
  const json::string* text = object.Annotation(kTemplateGeneration);
  return text ? std::atoll(text->c_str()) : 0;
}

void SetTemplateGeneration(meta::Object& object, std::int64_t number) {
  meta::MakeObject(object.Metadata(), "annotations")[kTemplateGeneration] = fmt::format("{}", number);
}

/// Returns the error of Go's strconv.ParseInt about the annotation; "" if it is missing or a number.
std::string GenerationError(const json::object& document) {
  const json::value* const found = meta::Find(document, "metadata", "annotations", kTemplateGeneration);
  if (!found || !found->is_string()) return "";
  const std::string_view text = found->get_string();
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool complete = end == digits.data() + digits.size() && !digits.empty() && !digits.starts_with("+");
  if (complete && error == std::errc()) return "";
  const bool is_large = error == std::errc::result_out_of_range && complete;
  return fmt::format("strconv.ParseInt: parsing {}: {}", meta::Quoted(text),
                     is_large ? "value out of range" : "invalid syntax");
}

/// Adds the annotation to every object that a client writes, so that managedFields names the client as its owner.
void DefaultTemplateGeneration(json::object& object) {
  meta::MakeObject(meta::MakeObject(object, "metadata"), "annotations").emplace(kTemplateGeneration, "0");
}

void DefaultRollout(json::object& spec) {
  json::object& strategy = meta::MakeObject(spec, "updateStrategy");
  if (meta::FindString(strategy, "type").empty()) strategy["type"] = "RollingUpdate";
  if (meta::FindString(strategy, "type") != "RollingUpdate") return;
  json::object& rolling = meta::MakeObject(strategy, "rollingUpdate");
  if (!rolling.contains("maxUnavailable")) rolling["maxUnavailable"] = 1;
  if (!rolling.contains("maxSurge")) rolling["maxSurge"] = 0;
}

void ValidateRollout(const Check& spec) {
  const std::optional<Check> strategy = spec.Child("updateStrategy");
  if (!strategy || strategy->Text("type") == "OnDelete") return;
  if (strategy->Text("type") != "RollingUpdate") {
    spec.Add(meta::NotSupported(strategy->Path().ToString(), Shown(meta::FindField(spec.Object(), "updateStrategy")),
                                {"RollingUpdate", "OnDelete"}));
    return;
  }
  const std::optional<Check> rolling = strategy->Child("rollingUpdate");
  if (!rolling) return;
  for (const char* field : {"maxUnavailable", "maxSurge"}) ValidateCountOrPercent(*rolling, field);
  for (const char* field : {"maxUnavailable", "maxSurge"}) ValidateAtMostAll(*rolling, field);
  const bool unavailable = CountOrPercent(*rolling, "maxUnavailable") != 0;
  const bool surge = CountOrPercent(*rolling, "maxSurge") != 0;
  if (unavailable && surge) rolling->Invalid("maxSurge", "may not be set when maxUnavailable is non-zero");
  if (!unavailable && !surge) {
    rolling->Add(meta::Required(rolling->Path().Child("maxUnavailable").ToString(), "cannot be 0 when maxSurge is 0"));
  }
}

class DaemonSetStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    DefaultRollout(spec);
    DefaultPodTemplate(spec);
    DefaultTemplateGeneration(object);
  }

  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    SpecStrategy::PrepareForCreate(ctx, object);
    SetTemplateGeneration(object, std::max<std::int64_t>(TemplateGeneration(object), 1));
  }

  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    SpecStrategy::PrepareForUpdate(ctx, object, old);
    const json::value* now = meta::Find(object.Root(), "spec", "template");
    const json::value* before = meta::Find(old.Root(), "spec", "template");
    const bool changed = !meta::Equal(now, before);
    SetTemplateGeneration(object, TemplateGeneration(old) + (changed ? 1 : 0));
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateSpec(SpecOf(object, errors));
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    ValidateImmutable("selector", spec, old);
    ValidateSpec(spec);
    return errors;
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    if (old && TemplateGeneration(*old) == TemplateGeneration(object)) return {};
    return SpecTemplateWarnings(object);
  }

 private:
  static void ValidateSpec(const Check& spec) {
    if (const std::optional<Check> selector = spec.Child("selector")) {
      for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
        spec.Add(std::move(error));
      ValidateTemplateLabels(spec);
      if (SelectorText(meta::FindField(spec.Object(), "selector")) == "<none>") {
        spec.Invalid("selector", "empty selector is invalid for daemonset");
      }
    } else {
      // A missing selector selects nothing, so it does not match the template.
      spec.Add(meta::Invalid("spec.template.metadata.labels",
                             Shown(meta::Find(spec.Object(), "template", "metadata", "labels")),
                             "`selector` does not match template `labels`"));
    }
    ValidatePodTemplate(spec);
    ValidateRunsForever(spec, "DaemonSet");
    spec.NonNegative("minReadySeconds");
    ValidateRollout(spec);
    spec.NonNegative("revisionHistoryLimit");
  }
};

StatusRules Rules() {
  return {.non_negative = {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
                           "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
                           "collisionCount"},
          .at_most = {},
          .counts_collisions = true};
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto [names, images] = ContainerCells(meta::Find(root, "spec", "template"));
  return {json::string(object.Name()),
          NumberAt(root, "status", "desiredNumberScheduled"),
          NumberAt(root, "status", "currentNumberScheduled"),
          NumberAt(root, "status", "numberReady"),
          NumberAt(root, "status", "updatedNumberScheduled"),
          NumberAt(root, "status", "numberAvailable"),
          LabelsText(meta::Find(root, "spec", "template", "spec", "nodeSelector")),
          AgeCell(object, ages),
          names,
          images,
          SelectorText(meta::Find(root, "spec", "selector"))};
}

}  // namespace

registry::Resource DaemonSetResource(const KindInputs&) {
  registry::Resource resource = FromTable("apps", "v1", "daemonsets", std::make_shared<DaemonSetStrategy>());
  resource.generation = true;
  resource.field_annotations = {kTemplateGeneration};
  resource.conversion_error = &GenerationError;
  SubresourceOf(resource, "status").strategy = std::make_shared<WorkloadStatusStrategy>(resource.strategy, Rules());
  resource.table = {{NameColumn(),
                     IntegerColumn("Desired", "Nodes that should run a pod of it."),
                     IntegerColumn("Current", "Nodes that run at least one pod of it and should."),
                     IntegerColumn("Ready", "Nodes whose pod is ready."),
                     IntegerColumn("Up-to-date", "Nodes whose pod is of the present template."),
                     IntegerColumn("Available", "Nodes whose pod has been ready for long enough."),
                     {.name = "Node Selector", .description = "Labels of the nodes it runs on."},
                     AgeColumn(),
                     WideColumn("Containers", "Names of the template's containers."),
                     WideColumn("Images", "Images of the template's containers."),
                     WideColumn("Selector", "Which pods belong to it.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "status", "spec.template.spec.containers.name",
                     "spec.template.spec.containers.image", "spec.template.spec.nodeSelector", "spec.selector"}};
  return resource;
}

}  // namespace apimesh::core_api
