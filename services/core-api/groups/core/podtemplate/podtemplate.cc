#include "services/core-api/groups/core/podtemplate/podtemplate.h"

#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class PodTemplateStrategy final : public registry::Strategy {
 public:
  void Default(json::object& object) const override { DefaultPodTemplate(object); }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidatePodTemplate(Check(object.Root(), meta::Path(), errors));
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    if (old && old->Generation() == object.Generation()) return {};
    return TemplateWarningsOf(object.Root(), meta::Path());
  }
};

json::array Cells(const meta::Object& object, meta::Ages&) {
  const auto [names, images] = ContainerCells(meta::FindField(object.Root(), "template"));
  return {json::string(object.Name()), names, images,
          LabelsText(meta::Find(object.Root(), "template", "metadata", "labels"))};
}

}  // namespace

registry::Resource PodTemplateResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "podtemplates", std::make_shared<PodTemplateStrategy>());
  resource.generation = true;
  resource.returns_deleted_object = true;
  resource.table = {
      {NameColumn(),
       {.name = "Containers", .description = "Names of the template's containers."},
       {.name = "Images", .description = "Images of the template's containers."},
       {.name = "Pod Labels", .description = "Labels of the pods."}},
      &Cells,
      {"metadata.name", "template.spec.containers.name", "template.spec.containers.image", "template.metadata.labels"}};
  return resource;
}

}  // namespace apimesh::core_api
