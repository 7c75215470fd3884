#include "services/core-api/groups/core/pod_spec/template.h"

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "lib/meta/selectors/selector.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

const meta::json::object& TemplateSpec(const Check& spec) {
  static const meta::json::object empty;
  const meta::json::value* found = meta::Find(spec.Object(), "template", "spec");
  return found && found->is_object() ? found->get_object() : empty;
}

}  // namespace

void DefaultPodTemplate(meta::json::object& spec) {
  meta::json::value* found = meta::Find(spec, "template", "spec");
  if (found && found->is_object()) DefaultPodSpec(found->get_object());
}

void ValidateTemplateMetadata(const Check& spec) {
  const meta::Path path = spec.Path().Child("template");
  for (meta::FieldError& error :
       meta::ValidateLabels(meta::Find(spec.Object(), "template", "metadata", "labels"), path.Child("labels"))) {
    spec.Add(std::move(error));
  }
  for (meta::FieldError& error : meta::ValidateAnnotations(
           meta::Find(spec.Object(), "template", "metadata", "annotations"), path.Child("annotations"))) {
    spec.Add(std::move(error));
  }
}

void ValidatePodTemplate(const Check& spec) {
  const meta::Path path = spec.Path().Child("template");
  ValidateTemplateMetadata(spec);
  for (meta::FieldError& error : ValidatePodSpec(TemplateSpec(spec), path.Child("spec"))) spec.Add(std::move(error));
  if (!Objects(meta::FindField(TemplateSpec(spec), "ephemeralContainers")).empty()) {
    spec.Add(meta::Forbidden(path.Child("spec").Child("ephemeralContainers").ToString(),
                             "ephemeral containers not allowed in pod template"));
  }
}

void ValidateTemplateLabels(const Check& spec) {
  const meta::json::value* selector = meta::FindField(spec.Object(), "selector");
  const meta::json::value* labels = meta::Find(spec.Object(), "template", "metadata", "labels");
  const auto mismatch = [&] {
    spec.Add(meta::Invalid(spec.Path().Child("template").Child("metadata").Child("labels").ToString(), Shown(labels),
                           "`selector` does not match template `labels`"));
  };
  if (!selector || !selector->is_object()) return mismatch();  // no selector matches nothing
  const meta::Result<meta::LabelSelector> parsed = meta::LabelSelector::FromObject(selector->get_object());
  if (!parsed || parsed->Empty()) return;
  meta::Labels sorted;
  if (labels && labels->is_object()) {
    for (const auto& [key, value] : labels->get_object()) {
      sorted.emplace_back(key, value.is_string() ? std::string(value.get_string()) : "");
    }
  }
  std::sort(sorted.begin(), sorted.end());
  if (!parsed->Matches(sorted)) mismatch();
}

void ValidateRunsForever(const Check& spec, std::string_view kind) {
  const meta::Path path = spec.Path().Child("template").Child("spec");
  if (const std::string_view policy = meta::FindString(TemplateSpec(spec), "restartPolicy"); policy != "Always") {
    spec.Add(meta::NotSupported(path.Child("restartPolicy").ToString(), meta::Quoted(policy), {"Always"}));
  }
  if (const meta::json::value* deadline = meta::FindField(TemplateSpec(spec), "activeDeadlineSeconds");
      deadline && !deadline->is_null()) {
    spec.Add(meta::Forbidden(path.Child("activeDeadlineSeconds").ToString(),
                             fmt::format("activeDeadlineSeconds in {} is not Supported", kind)));
  }
}

std::vector<std::string> PodNameWarnings(std::string_view name) {
  const meta::Complaints complaints = meta::CheckDnsLabel(name);
  if (complaints.empty()) return {};
  return {
      fmt::format("metadata.name: this is used in Pod names and hostnames, which can result in surprising "
                  "behavior; a DNS label is recommended: [{}]",
                  fmt::join(complaints, " "))};
}

std::pair<std::string, std::string> ContainerCells(const meta::json::value* template_value) {
  std::pair<std::string, std::string> cells;
  if (!template_value || !template_value->is_object()) return cells;
  bool first = true;
  for (const meta::json::object& container : Objects(meta::Find(template_value->get_object(), "spec", "containers"))) {
    if (!std::exchange(first, false)) {
      cells.first += ',';
      cells.second += ',';
    }
    cells.first += meta::FindString(container, "name");
    cells.second += meta::FindString(container, "image");
  }
  return cells;
}

}  // namespace apimesh::core_api
