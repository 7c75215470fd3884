#include "services/core-api/groups/networking/ipaddress/ipaddress.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

meta::Complaints PathSegment(std::string_view text) { return meta::CheckPathSegment(text); }

class IpAddressStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    const std::optional<Check> parent = spec.Child("parentRef");
    if (!parent) {
      errors.push_back(meta::Required("spec.parentRef", ""));
      return errors;
    }
    parent->Names("group", meta::CheckDnsSubdomain);
    parent->RequireName("resource", PathSegment);
    parent->RequireName("name", PathSegment);
    parent->Names("namespace", PathSegment);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    ValidateImmutable("parentRef", SpecOf(object, errors), old);
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  std::string parent = "<none>";
  if (const json::value* value = meta::Find(object.Root(), "spec", "parentRef"); value && value->is_object()) {
    const json::object& reference = value->get_object();
    const std::string_view group = meta::FindString(reference, "group"), ns = meta::FindString(reference, "namespace");
    parent = LowerCase(fmt::format("{}{}{}", meta::FindString(reference, "resource"), group.empty() ? "" : ".", group));
    parent += fmt::format("{}{}/{}", ns.empty() ? "" : "/", ns, meta::FindString(reference, "name"));
  }
  return {json::string(object.Name()), parent, AgeCell(object, ages)};
}

}  // namespace

registry::Resource IpAddressResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("networking.k8s.io", "v1", "ipaddresses", std::make_shared<IpAddressStrategy>());
  resource.validate_name = [](std::string_view name, bool) { return CheckCanonicalIp(name); };
  // As in kube-apiserver, the age has a cell but no column.
  resource.table = {{NameColumn(), {.name = "ParentRef", .description = "The object that uses the address."}},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.parentRef"}};
  return resource;
}

}  // namespace apimesh::core_api
