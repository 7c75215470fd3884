#include "services/core-api/groups/admissionregistration/param_access.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/equal.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::object* ObjectIn(const meta::Object& object, std::string_view field) {
  const json::value* found = meta::Find(object.Root(), "spec", field);
  return found && found->is_object() ? &found->get_object() : nullptr;
}

/// The user as Go prints a pointer to its struct.
std::string Shown(const meta::UserInfo& user) {
  std::string extra;
  for (const auto& [key, values] : user.extra)
    extra += fmt::format("{}{}:[{}]", extra.empty() ? "" : " ", key, fmt::join(values, " "));
  return fmt::format("&{{{} {} [{}] map[{}]}}", user.name, user.uid, fmt::join(user.groups, " "), extra);
}

/// The objects that somebody must be allowed to read.
struct Target {
  std::string group = "*", version = "*", resource = "*";
  bool resolved = false;
};

class ParamChecks : public registry::WriteChecks {
 public:
  ParamChecks(const KindInputs& inputs, meta::GroupKind kind, std::string field, ValidateObject validate)
      : auth_(inputs.auth),
        read_(inputs.api.read),
        kind_(std::move(kind)),
        field_(std::move(field)),
        validate_(std::move(validate)) {}

  Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const meta::Object& object) override {
    co_return co_await Check(std::move(ctx), object, nullptr);
  }
  Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& object,
                                   const meta::Object& old) override {
    if (Unchanged(object, old)) co_return meta::Result<>();
    co_return co_await Check(std::move(ctx), object, &old);
  }

 protected:
  virtual bool Unchanged(const meta::Object& object, const meta::Object& old) const = 0;
  /// Returns the reason why the user must not write the object, or "".
  virtual Task<meta::Result<std::string>> Denial(meta::RequestContext ctx, const meta::Object& object) const = 0;

  /// Finds the resource of a paramKind by discovery.
  Task<Target> Resolve(const json::object& kind) const {
    const std::string_view api_version = meta::FindString(kind, "apiVersion");
    Target target;
    if (std::count(api_version.begin(), api_version.end(), '/') > 1) co_return target;
    const meta::GroupVersion version = meta::GroupVersion::Parse(api_version);
    target.group = version.group;
    target.version = version.version;
    if (!read_) co_return target;
    const std::string path = version.group.empty() ? "/api/" + version.version : "/apis/" + version.ToString();
    const meta::Result<meta::Object> served = co_await read_(path);
    const json::value* resources = served ? meta::FindField(served->Root(), "resources") : nullptr;
    if (!resources || !resources->is_array()) co_return target;
    for (const json::value& item : resources->get_array()) {
      const std::string_view name = item.is_object() ? meta::FindString(item.get_object(), "name") : "";
      if (name.empty() || name.find('/') != std::string_view::npos) continue;
      if (meta::FindString(item.get_object(), "kind") != meta::FindString(kind, "kind")) continue;
      target.resource = name;
      target.resolved = true;
      break;
    }
    co_return target;
  }

  Task<meta::Result<bool>> May(meta::RequestContext ctx, Target target, std::string verb, std::string ns,
                               std::string name) const {
    service::AccessQuestion question;
    question.user = ctx.User();
    question.info.is_resource_request = true;
    question.info.verb = std::move(verb);
    question.info.api_group = std::move(target.group);
    question.info.api_version = std::move(target.version);
    question.info.resource = std::move(target.resource);
    question.info.ns = std::move(ns);
    question.info.name = std::move(name);
    ASSIGN_OR_CO_RETURN(const service::AccessDecision decision,
                        co_await auth_->Authorize(std::move(question), ctx.Deadline()));
    co_return decision.allowed;
  }

  const service::AuthClientPtr auth_;
  const ReadObject read_;

 private:
  Task<meta::Result<>> Check(meta::RequestContext ctx, const meta::Object& object, const meta::Object* old) const {
    const std::vector<std::string>& groups = ctx.User().groups;
    const bool master = std::find(groups.begin(), groups.end(), "system:masters") != groups.end();
    if (!auth_ || master || !ObjectIn(object, field_) || !validate_(object, old).empty()) co_return meta::Result<>();
    ASSIGN_OR_CO_RETURN(const std::string denial, co_await Denial(std::move(ctx), object));
    if (denial.empty()) co_return meta::Result<>();
    const meta::FieldErrors errors = {meta::Forbidden("spec." + field_, denial)};
    co_return meta::Invalid(kind_, object.Name(), errors);
  }

  const meta::GroupKind kind_;
  const std::string field_;
  const ValidateObject validate_;
};

class PolicyChecks final : public ParamChecks {
 public:
  PolicyChecks(const KindInputs& inputs, meta::GroupKind kind, ValidateObject validate)
      : ParamChecks(inputs, std::move(kind), "paramKind", std::move(validate)) {}

 private:
  bool Unchanged(const meta::Object& object, const meta::Object& old) const override {
    return meta::Equal(meta::Find(object.Root(), "spec", "paramKind"), meta::Find(old.Root(), "spec", "paramKind"));
  }
  Task<meta::Result<std::string>> Denial(meta::RequestContext ctx, const meta::Object& object) const override {
    const json::object& kind = *ObjectIn(object, "paramKind");
    Target target = co_await Resolve(kind);
    ASSIGN_OR_CO_RETURN(const bool may, co_await May(ctx, std::move(target), "get", "*", "*"));
    if (may) co_return std::string();
    co_return fmt::format(
        "user {} must have \"get\" permission on all objects of the referenced paramKind (kind={}, apiVersion={})",
        Shown(ctx.User()), meta::FindString(kind, "kind"), meta::FindString(kind, "apiVersion"));
  }
};

class BindingChecks final : public ParamChecks {
 public:
  BindingChecks(const KindInputs& inputs, meta::GroupKind kind, std::string policies, ValidateObject validate)
      : ParamChecks(inputs, std::move(kind), "paramRef", std::move(validate)), policies_(std::move(policies)) {}

 private:
  bool Unchanged(const meta::Object& object, const meta::Object& old) const override {
    return meta::Equal(meta::Find(object.Root(), "spec", "paramRef"), meta::Find(old.Root(), "spec", "paramRef")) &&
           meta::FindString(object.Root(), "spec", "policyName") == meta::FindString(old.Root(), "spec", "policyName");
  }
  Task<meta::Result<std::string>> Denial(meta::RequestContext ctx, const meta::Object& object) const override {
    const json::object& ref = *ObjectIn(object, "paramRef");
    const std::string policy_name(meta::FindString(object.Root(), "spec", "policyName"));
    const std::string path = fmt::format("/apis/admissionregistration.k8s.io/v1/{}/{}", policies_, policy_name);
    meta::Result<meta::Object> policy = meta::InternalError("the API cannot be read");
    if (read_) policy = co_await read_(path);
    const json::object* kind = policy ? ObjectIn(*policy, "paramKind") : nullptr;
    Target target;
    if (kind) target = co_await Resolve(*kind);
    const bool resolved = !kind || target.resolved;
    std::string name(meta::FindString(ref, "name")), ns(meta::FindString(ref, "namespace"));
    const std::string verb = name.empty() ? "list" : "get";
    ASSIGN_OR_CO_RETURN(const bool may, co_await May(ctx, std::move(target), verb, std::move(ns), std::move(name)));
    if (may) co_return std::string();
    const std::string user = Shown(ctx.User());
    constexpr std::string_view kMissing =
        "to determine minimum required permissions and user {} does not have \"{}\" permission for all groups, "
        "versions and resources";
    if (!policy) co_return fmt::format("unable to get policy {} {}", policy_name, fmt::format(kMissing, user, verb));
    if (!resolved) {
      co_return fmt::format("unable to resolve paramKind &ParamKind{{APIVersion:{},Kind:{},}} {}",
                            meta::FindString(*kind, "apiVersion"), meta::FindString(*kind, "kind"),
                            fmt::format(kMissing, user, verb));
    }
    // As in kube-apiserver, the message about mutating policies has the verb and the user in the wrong order.
    const bool mutating = policies_.starts_with("mutating");
    co_return fmt::format("user {} does not have \"{}\" permission on the object referenced by paramRef",
                          mutating ? verb : user, mutating ? user : verb);
  }

  const std::string policies_;
};

}  // namespace

std::shared_ptr<registry::WriteChecks> PolicyParamChecks(const KindInputs& inputs, meta::GroupKind kind,
                                                         ValidateObject validate) {
  return std::make_shared<PolicyChecks>(inputs, std::move(kind), std::move(validate));
}

std::shared_ptr<registry::WriteChecks> BindingParamChecks(const KindInputs& inputs, meta::GroupKind kind,
                                                          std::string policies, ValidateObject validate) {
  return std::make_shared<BindingChecks>(inputs, std::move(kind), std::move(policies), std::move(validate));
}

}  // namespace apimesh::core_api
