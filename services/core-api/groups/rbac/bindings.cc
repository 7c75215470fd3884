#include "services/core-api/groups/rbac/bindings.h"

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/names.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/rbac/escalation/escalation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kGroup = "rbac.authorization.k8s.io";

void NotSupported(const Check& holder, std::string_view field, const std::vector<std::string>& values) {
  holder.Add(meta::NotSupported(holder.Path().Child(field).ToString(), meta::Quoted(holder.Text(field)), values));
}

void ValidateSubject(const Check& subject, bool namespaced) {
  subject.Require("name");
  const std::string_view kind = subject.Text("kind");
  if (kind == "ServiceAccount") {
    subject.Names("name", meta::CheckDnsSubdomain);
    if (!subject.Text("apiGroup").empty()) NotSupported(subject, "apiGroup", {""});
    if (!namespaced) subject.Require("namespace");
  } else if (kind == "User" || kind == "Group") {
    if (subject.Text("apiGroup") != kGroup) NotSupported(subject, "apiGroup", {kGroup});
  } else {
    NotSupported(subject, "kind", {"ServiceAccount", "User", "Group"});
  }
}

class BindingStrategy final : public registry::Strategy {
 public:
  explicit BindingStrategy(bool namespaced) : namespaced_(namespaced) {}

  void Default(json::object& object) const override {
    for (json::object& subject : Objects(meta::FindField(object, "subjects"))) {
      const std::string_view kind = meta::FindString(subject, "kind");
      if (meta::FindString(subject, "apiGroup").empty() && (kind == "User" || kind == "Group"))
        subject["apiGroup"] = kGroup;
    }
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    static const json::object empty;
    const json::value* found = meta::FindField(object.Root(), "roleRef");
    const Check role(found && found->is_object() ? found->get_object() : empty, meta::Path("roleRef"), errors);
    if (role.Text("apiGroup") != kGroup) NotSupported(role, "apiGroup", {kGroup});
    const bool known = role.Text("kind") == "ClusterRole" || (namespaced_ && role.Text("kind") == "Role");
    if (!known)
      NotSupported(
          role, "kind",
          namespaced_ ? std::vector<std::string>{"Role", "ClusterRole"} : std::vector<std::string>{"ClusterRole"});
    if (role.Require("name")) {
      for (std::string& complaint : meta::CheckPathSegment(role.Text("name")))
        role.Invalid("name", std::move(complaint));
    }
    const json::value* subjects = meta::FindField(object.Root(), "subjects");
    for (std::size_t i = 0; subjects && subjects->is_array() && i < subjects->get_array().size(); ++i) {
      const json::value& subject = subjects->get_array()[i];
      if (subject.is_object())
        ValidateSubject(Check(subject.get_object(), meta::Path("subjects").Index(i), errors), namespaced_);
    }
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    const json::value* now = meta::FindField(object.Root(), "roleRef");
    const json::value* before = meta::FindField(old.Root(), "roleRef");
    if (now && before && !meta::Equal(*now, *before)) {
      // kube-apiserver shows its internal representation of roleRef.
      const Check role(now->as_object(), meta::Path("roleRef"), errors);
      const std::string shown = fmt::format(R"({{"APIGroup":"{}","Kind":"{}","Name":"{}"}})", role.Text("apiGroup"),
                                            role.Text("kind"), role.Text("name"));
      errors.push_back(meta::Invalid("roleRef", shown, "cannot change roleRef"));
    }
    return errors;
  }
  bool AllowCreateOnUpdate() const override { return true; }

 private:
  bool namespaced_;
};

std::string Subjects(const meta::Object& object, std::string_view kind) {
  std::vector<std::string> names;
  for (const json::object& subject : Objects(meta::FindField(object.Root(), "subjects"))) {
    if (meta::FindString(subject, "kind") != kind) continue;
    const std::string_view ns = meta::FindString(subject, "namespace");
    const bool account = kind == "ServiceAccount" && !ns.empty();
    names.push_back(account ? fmt::format("{}/{}", ns, meta::FindString(subject, "name"))
                            : std::string(meta::FindString(subject, "name")));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const std::string role = fmt::format("{}/{}", meta::FindString(object.Root(), "roleRef", "kind"),
                                       meta::FindString(object.Root(), "roleRef", "name"));
  return {json::string(object.Name()), role,
          AgeCell(object, ages),       Subjects(object, "User"),
          Subjects(object, "Group"),   Subjects(object, "ServiceAccount")};
}

registry::Resource Make(std::string_view plural, bool namespaced, const KindInputs& inputs) {
  registry::Resource resource = FromTable(kGroup, "v1", plural, std::make_shared<BindingStrategy>(namespaced));
  resource.validate_name = meta::NameIsPathSegment;  // names such as "system:node" are allowed
  resource.checks = MakeBindingChecks(std::string(plural), inputs.auth, inputs.api.read);
  resource.table = {{NameColumn(),
                     {.name = "Role", .description = "What is granted."},
                     AgeColumn(),
                     WideColumn("Users", "Users it is granted to."),
                     WideColumn("Groups", "Groups it is granted to."),
                     WideColumn("ServiceAccounts", "Service accounts it is granted to.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "roleRef", "subjects"}};
  return resource;
}

}  // namespace

registry::Resource RoleBindingResource(const KindInputs& inputs) { return Make("rolebindings", true, inputs); }

registry::Resource ClusterRoleBindingResource(const KindInputs& inputs) {
  return Make("clusterrolebindings", false, inputs);
}

}  // namespace apimesh::core_api
