#include "services/authn-authz/authenticators/oidc/claim_mapper.h"

#include "lib/cel/value/collections.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::authn_authz {
namespace {

using boost::json::object;
/// A document and the memory of the expressions that see it.
struct Variables {
  explicit Variables(const boost::json::value& document) : value(cel::Value::FromJson(document, evaluation.arena)) {}
  cel::Value Evaluate(const cel::Program& program) const { return program.Evaluate(std::span(&value, 1), evaluation); }

  mutable cel::Evaluation evaluation;
  const cel::Value value;
};
using Kind = cel::Value::Kind;

meta::Result<std::string> UsernameByClaim(const OidcOptions& options, const object& claims) {
  const boost::json::value* value = meta::FindField(claims, options.username_claim);
  if (!value || !value->is_string()) {
    return BadCredential(
        fmt::format("oidc: parse username claims {}: claim not present", meta::Quoted(options.username_claim)));
  }
  if (options.username_claim == "email") {
    if (const boost::json::value* verified = meta::FindField(claims, "email_verified")) {
      if (!verified->is_bool()) return BadCredential("oidc: parse 'email_verified' claim: not a boolean");
      if (!verified->get_bool()) return BadCredential("oidc: email not verified");
    }
  }
  return options.username_prefix + std::string(value->get_string());
}

meta::Result<std::vector<std::string>> GroupsByClaim(const OidcOptions& options, const object& claims) {
  std::vector<std::string> groups;
  const boost::json::value* value =
      options.groups_claim.empty() ? nullptr : meta::FindField(claims, options.groups_claim);
  if (!value) return groups;
  const auto bad = [&] {
    return BadCredential(fmt::format("oidc: parse groups claim {}", meta::Quoted(options.groups_claim)));
  };
  if (value->is_string()) {
    groups.push_back(options.groups_prefix + std::string(value->get_string()));
  } else if (value->is_array()) {
    for (const boost::json::value& group : value->get_array()) {
      if (!group.is_string()) return bad();
      groups.push_back(options.groups_prefix + std::string(group.get_string()));
    }
  } else if (!value->is_null()) {
    return bad();
  }
  return groups;
}

meta::ApiError Failed(std::string_view what, std::string_view why) {
  return BadCredential(fmt::format("oidc: error evaluating {} claim expression: {}", what, why));
}

meta::Result<std::string> Text(const cel::Program& program, const Variables& variables, std::string_view what) {
  const cel::Value value = variables.Evaluate(program);
  if (value.IsError())
    return Failed(what, fmt::format("expression '{}' resulted in error: {}", program.Source(), value.AsString()));
  if (!value.Is(Kind::kString)) return Failed(what, fmt::format("{} claim expression must return a string", what));
  return std::string(value.AsString());
}

// Evaluates to a string or a list of strings; empty strings are treated as absent.
meta::Result<std::vector<std::string>> Texts(const cel::Program& program, const Variables& variables,
                                             std::string_view what) {
  constexpr std::string_view kWanted = "expression must return a string or a list of strings";
  const cel::Value value = variables.Evaluate(program);
  std::vector<std::string> out;
  const auto add = [&out](const cel::Value& item) {
    if (!item.Is(Kind::kString)) return false;
    if (!item.AsString().empty()) out.emplace_back(item.AsString());
    return true;
  };
  if (value.IsError())
    return Failed(what, fmt::format("expression '{}' resulted in error: {}", program.Source(), value.AsString()));
  if (value.Is(Kind::kNull)) return out;
  if (value.IsList()) {
    for (std::size_t i = 0; i < cel::ListSize(value); ++i) {
      if (!add(cel::ListAt(value, i, variables.evaluation.arena))) return Failed(what, kWanted);
    }
  } else if (!add(value)) {
    return Failed(what, kWanted);
  }
  return out;
}

meta::Result<> CheckRules(const std::vector<OidcOptions::Rule>& rules, const Variables& variables,
                          std::string_view what) {
  for (const OidcOptions::Rule& rule : rules) {
    const cel::Value value = variables.Evaluate(rule.program);
    std::string why;
    if (value.IsError())
      why = fmt::format("expression '{}' resulted in error: {}", rule.program.Source(), value.AsString());
    else if (!value.Is(Kind::kBool))
      why = "validation expression must return a boolean";
    else if (!value.AsBool())
      why = fmt::format("validation expression '{}' failed: {}", rule.program.Source(), rule.message);
    if (!why.empty()) return BadCredential(fmt::format("oidc: error evaluating {}: {}", what, why));
  }
  return {};
}

meta::Result<> CheckRequiredClaims(const OidcOptions& options, const object& claims) {
  for (const auto& [claim, wanted] : options.required_claims) {
    const boost::json::value* value = meta::FindField(claims, claim);
    if (!value) return BadCredential(fmt::format("oidc: required claim {} not present in ID token", claim));
    if (!value->is_string() || std::string_view(value->get_string()) != wanted) {
      return BadCredential(fmt::format("oidc: required claim {} value does not match", claim));
    }
  }
  return {};
}

boost::json::object ToJson(const meta::UserInfo& user) {
  boost::json::object out{{"username", user.name},
                          {"uid", user.uid},
                          {"groups", boost::json::array(user.groups.begin(), user.groups.end())}};
  boost::json::object& extra = out["extra"].emplace_object();
  for (const auto& [key, values] : user.extra) extra[key] = boost::json::array(values.begin(), values.end());
  return out;
}

}  // namespace

meta::Result<meta::UserInfo> MapClaims(const OidcOptions& options, const object& claims) {
  const boost::json::value document(claims);
  const Variables variables(document);
  meta::UserInfo user;
  if (options.username_expression) {
    ASSIGN_OR_RETURN(user.name, Text(*options.username_expression, variables, "username"));
    if (user.name.empty()) return BadCredential("oidc: empty username via CEL expression is not allowed");
  } else {
    ASSIGN_OR_RETURN(user.name, UsernameByClaim(options, claims));
  }
  if (options.groups_expression) {
    ASSIGN_OR_RETURN(user.groups, Texts(*options.groups_expression, variables, "group"));
  } else {
    ASSIGN_OR_RETURN(user.groups, GroupsByClaim(options, claims));
  }
  if (options.uid_expression) {
    ASSIGN_OR_RETURN(user.uid, Text(*options.uid_expression, variables, "uid"));
  } else if (!options.uid_claim.empty()) {
    const boost::json::value* uid = meta::FindField(claims, options.uid_claim);
    if (!uid || !uid->is_string())
      return BadCredential(fmt::format("oidc: parse uid claim {}: claim not present", meta::Quoted(options.uid_claim)));
    user.uid = uid->get_string();
  }
  if (const std::string_view id = meta::FindString(claims, "jti"); !id.empty()) {
    user.extra["authentication.kubernetes.io/credential-id"] = {fmt::format("JTI={}", id)};
  }
  for (const OidcOptions::ExtraMapping& mapping : options.extra) {
    ASSIGN_OR_RETURN(std::vector<std::string> values, Texts(mapping.program, variables, "extra"));
    if (!values.empty()) user.extra[mapping.key] = std::move(values);
  }
  RETURN_IF_ERROR(CheckRequiredClaims(options, claims));
  RETURN_IF_ERROR(CheckRules(options.claim_rules, variables, "claim validation expression"));
  if (!options.user_rules.empty()) {
    const boost::json::value shown(ToJson(user));
    RETURN_IF_ERROR(CheckRules(options.user_rules, Variables(shown), "user info validation rule"));
  }
  return user;
}

}  // namespace apimesh::authn_authz
