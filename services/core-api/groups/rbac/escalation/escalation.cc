#include "services/core-api/groups/rbac/escalation/escalation.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/errors/other_errors.h"
#include "services/core-api/groups/rbac/escalation/policy_rules.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
constexpr const char* kGroup = "rbac.authorization.k8s.io";

bool IsMaster(const meta::RequestContext& ctx) {
  const std::vector<std::string>& groups = ctx.User().groups;
  return std::find(groups.begin(), groups.end(), "system:masters") != groups.end();
}

/// Whether an update changes only the fields that the garbage collector needs, which grants no permissions.
bool OnlyForGarbageCollection(const meta::Object& object, const meta::Object& old) {
  json::object now = object.Root(), before = old.Root();
  for (json::object* one : {&now, &before}) {
    json::object& metadata = meta::MakeObject(*one, "metadata");
    for (const char* field : {"ownerReferences", "finalizers", "managedFields"}) meta::EraseField(metadata, field);
  }
  return meta::Equal(now, before);
}

/// The questions to the authorizer that both checks share.
class Asker {
 public:
  explicit Asker(service::AuthClientPtr auth) : auth_(std::move(auth)) {}

  Task<bool> May(meta::RequestContext ctx, std::string verb, std::string resource, std::string name) const {
    service::AccessQuestion question;
    question.user = ctx.User();
    question.info.is_resource_request = true;
    question.info.verb = std::move(verb);
    question.info.api_prefix = "apis";
    question.info.api_group = kGroup;
    question.info.api_version = "*";
    question.info.resource = std::move(resource);
    question.info.name = std::move(name);
    question.info.ns = ctx.Info().ns;
    const meta::Result<service::AccessDecision> decision =
        co_await auth_->Authorize(std::move(question), ctx.Deadline());
    co_return decision && decision->allowed;
  }

  /// Returns "" if the user holds all rules of `wanted`, and otherwise the message for the user.
  Task<meta::Result<std::string>> Missing(meta::RequestContext ctx, std::vector<PolicyRule> wanted) const {
    ASSIGN_OR_CO_RETURN(const service::AccessRules rules,
                        co_await auth_->Rules(ctx.User(), ctx.Info().ns, ctx.Deadline()));
    std::vector<PolicyRule> held;
    for (const auto& rule : rules.resources) held.push_back({rule.verbs, rule.groups, rule.resources, rule.names, {}});
    for (const auto& rule : rules.non_resources) held.push_back({rule.verbs, {}, {}, {}, rule.paths});
    const std::optional<std::vector<PolicyRule>> missing = Uncovered(std::move(held), wanted);
    if (missing && missing->empty()) co_return std::string();
    const std::string what =
        missing
            ? fmt::format("{}", fmt::join(Describe(*missing), "\n"))
            : fmt::format("the rules combine to more than {} permissions, which are too many to compare", kMaxPieces);
    std::string text =
        fmt::format("user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
                    meta::Quoted(ctx.User().name), QuotedList(ctx.User().groups), what);
    if (!rules.error.empty()) text += fmt::format("; resolution errors: [{}]", rules.error);
    co_return text;
  }

 private:
  service::AuthClientPtr auth_;
};

bool HasAggregationRule(const meta::Object& role) {
  const json::value* selectors = meta::Find(role.Root(), "aggregationRule", "clusterRoleSelectors");
  return selectors && selectors->is_array() && !selectors->get_array().empty();
}

class RoleChecks final : public registry::WriteChecks {
 public:
  RoleChecks(std::string resource, service::AuthClientPtr auth)
      : resource_(std::move(resource)), asker_(std::move(auth)) {}

  Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const meta::Object& role) override {
    return Check(std::move(ctx), role, HasAggregationRule(role));
  }
  Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& role,
                                   const meta::Object& old) override {
    if (OnlyForGarbageCollection(role, old)) co_return meta::Result<>();
    co_return co_await Check(std::move(ctx), role, HasAggregationRule(role) || HasAggregationRule(old));
  }

 private:
  Task<meta::Result<>> Check(meta::RequestContext ctx, const meta::Object& role, bool aggregates) {
    if (IsMaster(ctx)) co_return meta::Result<>();
    const std::string name(role.Name());
    const bool may = co_await asker_.May(ctx, "escalate", resource_, ctx.Info().name);
    if (may) co_return meta::Result<>();
    ASSIGN_OR_CO_RETURN(const std::string missing, co_await asker_.Missing(ctx, RulesOf(role)));
    if (!missing.empty()) co_return meta::Forbidden({kGroup, resource_}, name, missing);
    if (!aggregates) co_return meta::Result<>();
    // A role with an aggregationRule can collect any rules, so its author must have all permissions.
    std::vector<PolicyRule> everything = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
    ASSIGN_OR_CO_RETURN(const std::string still, co_await asker_.Missing(ctx, std::move(everything)));
    if (still.empty()) co_return meta::Result<>();
    co_return meta::Forbidden({kGroup, resource_}, name,
                              "must have cluster-admin privileges to use the aggregationRule");
  }

  const std::string resource_;
  const Asker asker_;
};

class BindingChecks final : public registry::WriteChecks {
 public:
  BindingChecks(std::string resource, service::AuthClientPtr auth, ReadObject read)
      : resource_(std::move(resource)), asker_(std::move(auth)), read_(std::move(read)) {}

  Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const meta::Object& binding) override {
    return Check(std::move(ctx), binding);
  }
  Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& binding,
                                   const meta::Object& old) override {
    if (OnlyForGarbageCollection(binding, old)) co_return meta::Result<>();
    co_return co_await Check(std::move(ctx), binding);
  }

 private:
  Task<meta::Result<>> Check(meta::RequestContext ctx, const meta::Object& binding) {
    if (IsMaster(ctx)) co_return meta::Result<>();
    const std::string name(binding.Name());
    const std::string kind(meta::FindString(binding.Root(), "roleRef", "kind")),
        role(meta::FindString(binding.Root(), "roleRef", "name"));
    const bool cluster = kind == "ClusterRole";
    if (!cluster && kind != "Role")
      co_return meta::PlainError(fmt::format("unsupported role reference kind: {}", meta::Quoted(kind)));
    const bool may = co_await asker_.May(ctx, "bind", cluster ? "clusterroles" : "roles", role);
    if (may) co_return meta::Result<>();
    const std::string base = fmt::format("/apis/{}/v1/", kGroup);
    const std::string path = cluster ? fmt::format("{}clusterroles/{}", base, role)
                                     : fmt::format("{}namespaces/{}/roles/{}", base, ctx.Info().ns, role);
    ASSIGN_OR_CO_RETURN(const meta::Object found, co_await read_(path));
    ASSIGN_OR_CO_RETURN(const std::string missing, co_await asker_.Missing(ctx, RulesOf(found)));
    if (!missing.empty()) co_return meta::Forbidden({kGroup, resource_}, name, missing);
    co_return meta::Result<>();
  }

  const std::string resource_;
  const Asker asker_;
  const ReadObject read_;
};

}  // namespace

std::shared_ptr<registry::WriteChecks> MakeRoleChecks(std::string resource, service::AuthClientPtr auth) {
  return std::make_shared<RoleChecks>(std::move(resource), std::move(auth));
}

std::shared_ptr<registry::WriteChecks> MakeBindingChecks(std::string resource, service::AuthClientPtr auth,
                                                         ReadObject read) {
  return std::make_shared<BindingChecks>(std::move(resource), std::move(auth), std::move(read));
}

}  // namespace apimesh::core_api
