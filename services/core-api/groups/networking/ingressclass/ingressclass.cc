#include "services/core-api/groups/networking/ingressclass/ingressclass.h"

#include <fmt/format.h>

#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/domain_paths.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxController = 250;

meta::Complaints PathSegment(std::string_view text) { return meta::CheckPathSegment(text); }

void ValidateClassParameters(const Check& parameters) {
  if (parameters.Has("apiGroup"))
    CheckText(parameters, parameters.Path().Child("apiGroup"), parameters.Text("apiGroup"), meta::CheckDnsSubdomain);
  parameters.RequireName("kind", PathSegment);
  parameters.RequireName("name", PathSegment);
  const std::string_view scope = parameters.Text("scope");
  const std::string path = parameters.Path().Child("namespace").ToString();
  if (scope == "Namespace") {
    if (!parameters.Has("namespace")) {
      parameters.Add(meta::Required(path, "`parameters.scope` is set to 'Namespace'"));
    } else {
      CheckText(parameters, parameters.Path().Child("namespace"), parameters.Text("namespace"), meta::CheckDnsLabel);
    }
  } else if (scope == "Cluster") {
    parameters.Forbid("namespace", "`parameters.scope` is set to 'Cluster'");
  } else {
    parameters.Add(
        meta::NotSupported(parameters.Path().Child("scope").ToString(), meta::Quoted(scope), {"Cluster", "Namespace"}));
  }
}

class IngressClassStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateSpec(object, errors);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    const std::string_view now = spec.Text("controller");
    if (now != meta::FindString(old.Root(), "spec", "controller"))
      errors.push_back(meta::Invalid("spec.controller", meta::Quoted(now), "field is immutable"));
    ValidateSpec(object, errors);
    return errors;
  }

 private:
  static void ValidateSpec(const meta::Object& object, meta::FieldErrors& errors) {
    const Check spec = SpecOf(object, errors);
    if (spec.Text("controller").size() > kMaxController)
      spec.Add(meta::TooLong(spec.Path().Child("controller").ToString(), kMaxController));
    ValidateDomainPrefixedPath(spec, "controller");
    if (const std::optional<Check> parameters = spec.Child("parameters")) ValidateClassParameters(*parameters);
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* is_default = FindAnnotation(object, "ingressclass.kubernetes.io/is-default-class");
  const bool standard = is_default && is_default->is_string() && is_default->get_string() == "true";
  std::string parameters = "<none>";
  if (const json::value* value = meta::Find(root, "spec", "parameters"); value && value->is_object()) {
    const json::object& reference = value->get_object();
    const json::value* group = meta::FindField(reference, "apiGroup");
    const bool has_group = group && group->is_string();
    parameters = fmt::format("{}{}{}/{}", meta::FindString(reference, "kind"), has_group ? "." : "",
                             meta::FindString(reference, "apiGroup"), meta::FindString(reference, "name"));
  }
  return {std::string(object.Name()) + (standard ? " (default)" : ""),
          TextCell(meta::FindString(root, "spec", "controller")), parameters, AgeCell(object, ages)};
}

}  // namespace

registry::Resource IngressClassResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("networking.k8s.io", "v1", "ingressclasses", std::make_shared<IngressClassStrategy>());
  resource.generation = true;
  resource.table = {{NameColumn(),
                     {.name = "Controller", .description = "The controller of the class."},
                     {.name = "Parameters", .description = "An object with parameters for the controller."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "metadata.annotations", "spec"}};
  return resource;
}

}  // namespace apimesh::core_api
