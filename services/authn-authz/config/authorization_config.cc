#include "services/authn-authz/config/authorization_config.h"

#include <filesystem>
#include <set>

#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/credentials/option_rules.h"
#include "lib/flags/flag_table.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"
#include "services/authn-authz/authorizers/abac/flags.h"
#include "services/authn-authz/authorizers/webhook/flags.h"
#include "services/authn-authz/config/expressions.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/join_errors.h"
#include "services/authn-authz/config/strict.h"

namespace apimesh::authn_authz {
namespace {

using boost::json::object;
using meta::FieldErrors;
using meta::Path;
using meta::Quoted;
using std::chrono::milliseconds;

constexpr std::size_t kMaxMatchConditions = 64;

/// The values of `type`, in the order in which kube-apiserver lists them.
const std::vector<std::string>& Modes() {
  static const std::vector<std::string> modes = [] {
    std::vector<std::string> all = flags::AllowedValues(*flags::FindFlag("authorization-mode"));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return modes;
}

const Shape& FileShape() {
  static const Shape anything;
  static const Shape webhook{{{"authorizedTTL", anything},
                              {"cacheAuthorizedRequests", anything},
                              {"unauthorizedTTL", anything},
                              {"cacheUnauthorizedRequests", anything},
                              {"timeout", anything},
                              {"subjectAccessReviewVersion", anything},
                              {"matchConditionSubjectAccessReviewVersion", anything},
                              {"failurePolicy", anything},
                              {"connectionInfo", Shape{{{"type", anything}, {"kubeConfigFile", anything}}}},
                              {"matchConditions", Shape{{{"expression", anything}}}}}};
  static const Shape file{{{"authorizers", Shape{{{"type", anything}, {"name", anything}, {"webhook", webhook}}}}}};
  return file;
}

std::string GoDuration(milliseconds duration) {
  return duration.count() % 1000 == 0 ? fmt::format("{}s", duration.count() / 1000)
                                      : fmt::format("{}s", duration.count() / 1000.0);
}

// Reads a duration that must be positive. If it is absent or zero, returns `otherwise`, or reports a missing field if
// there is no default.
milliseconds ReadDuration(const object& webhook, const char* field, milliseconds otherwise, const Path& path,
                          FieldErrors& errors) {
  std::string text(meta::FindString(webhook, field));
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  milliseconds duration = service::ParseDuration(text).value_or(milliseconds(0));
  if (!text.empty() && !service::ParseDuration(text)) {
    errors.push_back(
        meta::Invalid(path.Child(field).ToString(), Quoted(text), "time: invalid duration " + Quoted(text)));
    return otherwise;
  }
  if (negative) duration = -duration;
  if (duration.count() == 0) duration = otherwise;
  const bool timeout = std::string_view(field) == "timeout";
  if (duration.count() == 0)
    errors.push_back(meta::Required(path.Child(field).ToString(), ""));
  else if (duration.count() < 0 || (timeout && duration > std::chrono::seconds(30))) {
    errors.push_back(meta::Invalid(path.Child(field).ToString(), Quoted(GoDuration(duration)),
                                   timeout ? "must be > 0s and <= 30s" : "must be > 0s"));
  }
  return duration;
}

bool IsFalse(const object& webhook, std::string_view field) {
  const boost::json::value* value = meta::FindField(webhook, field);
  return value && value->is_bool() && !value->get_bool();
}

std::string ReadChoice(const object& parent, const char* field, const std::vector<std::string>& choices,
                       const Path& path, FieldErrors& errors) {
  std::string value(meta::FindString(parent, field));
  if (value.empty())
    errors.push_back(meta::Required(path.Child(field).ToString(), ""));
  else if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    errors.push_back(meta::NotSupported(path.Child(field).ToString(), Quoted(value), choices));
  }
  return value;
}

std::string ReadConnection(const object& webhook, const Path& path, FieldErrors& errors) {
  static const object none;
  const boost::json::value* value = meta::FindField(webhook, "connectionInfo");
  const object& info = value && value->is_object() ? value->get_object() : none;
  const Path where = path.Child("connectionInfo"), file_path = where.Child("kubeConfigFile");
  const std::string type = ReadChoice(info, "type", {"InClusterConfig", "KubeConfigFile"}, where, errors);
  std::string file(meta::FindString(info, "kubeConfigFile"));
  if (type == "InClusterConfig" && !file.empty()) {
    errors.push_back(meta::Invalid(file_path.ToString(), Quoted(file), "can only be set when type=KubeConfigFile"));
  }
  if (type != "KubeConfigFile") return file;
  std::error_code error;
  if (file.empty())
    errors.push_back(meta::Required(file_path.ToString(), ""));
  else if (!file.starts_with('/'))
    errors.push_back(meta::Invalid(file_path.ToString(), Quoted(file), "must be an absolute path"));
  else if (!std::filesystem::exists(file, error)) {
    errors.push_back(meta::Invalid(file_path.ToString(), Quoted(file),
                                   fmt::format("error loading file: stat {}: no such file or directory", file)));
  } else if (!std::filesystem::is_regular_file(file, error)) {
    errors.push_back(meta::Invalid(file_path.ToString(), Quoted(file), "must be a regular file"));
  }
  return file;
}

std::vector<cel::Program> ReadMatchConditions(const object& webhook, const Path& path, FieldErrors& errors) {
  std::vector<cel::Program> programs;
  const boost::json::value* list = meta::FindField(webhook, "matchConditions");
  const std::size_t count = list && list->is_array() ? list->get_array().size() : 0;
  if (count > kMaxMatchConditions) {
    errors.push_back(meta::TooMany(path.Child("matchConditions").ToString(), count, kMaxMatchConditions));
    return programs;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const Path where = path.Child("matchConditions").Index(i).Child("expression");
    const boost::json::value& item = list->get_array()[i];
    const std::string expression(item.is_object() ? meta::FindString(item.get_object(), "expression")
                                                  : std::string_view());
    if (TrimSpace(expression).empty())
      errors.push_back(meta::Required(where.ToString(), ""));
    else if (!seen.insert(expression).second)
      errors.push_back(meta::Duplicate(where.ToString(), Quoted(expression)));
    else if (auto program =
                 CompileExpression(expression, ExpressionScope::kRequest, ExpressionResult::kBool, where, errors))
      programs.push_back(std::move(*program));
  }
  return programs;
}

void ReadWebhook(const object& webhook, const Path& path, AuthorizerConfig& out, FieldErrors& errors) {
  out.webhook.timeout = ReadDuration(webhook, "timeout", milliseconds(0), path, errors);
  out.webhook.authorized_ttl = ReadDuration(webhook, "authorizedTTL", out.webhook.authorized_ttl, path, errors);
  out.webhook.unauthorized_ttl = ReadDuration(webhook, "unauthorizedTTL", out.webhook.unauthorized_ttl, path, errors);
  if (IsFalse(webhook, "cacheAuthorizedRequests")) out.webhook.authorized_ttl = {};
  if (IsFalse(webhook, "cacheUnauthorizedRequests")) out.webhook.unauthorized_ttl = {};
  out.webhook.version = ReadChoice(webhook, "subjectAccessReviewVersion", {"v1", "v1beta1"}, path, errors);
  const std::string condition_version(meta::FindString(webhook, "matchConditionSubjectAccessReviewVersion"));
  const boost::json::value* conditions = meta::FindField(webhook, "matchConditions");
  const Path condition_path = path.Child("matchConditionSubjectAccessReviewVersion");
  if (condition_version.empty()) {
    if (conditions && conditions->is_array() && !conditions->get_array().empty()) {
      errors.push_back(meta::Required(condition_path.ToString(), "required if match conditions are specified"));
    }
  } else if (condition_version != "v1") {
    errors.push_back(meta::NotSupported(condition_path.ToString(), Quoted(condition_version), {"v1"}));
  }
  out.webhook.deny_on_error = ReadChoice(webhook, "failurePolicy", {"NoOpinion", "Deny"}, path, errors) == "Deny";
  out.kubeconfig = ReadConnection(webhook, path, errors);
  out.webhook.match_conditions = ReadMatchConditions(webhook, path, errors);
}

void CheckName(const std::string& name, std::set<std::string>& names, const Path& path, FieldErrors& errors) {
  const bool repeated = !names.insert(name).second;
  if (name.empty())
    errors.push_back(meta::Required(path.ToString(), ""));
  else if (repeated)
    errors.push_back(meta::Duplicate(path.ToString(), Quoted(name)));
  else if (const auto complaints = meta::CheckDnsSubdomain(name); !complaints.empty()) {
    errors.push_back(meta::Invalid(path.ToString(), Quoted(name),
                                   fmt::format("authorizer name is invalid: {}", fmt::join(complaints, ", "))));
  }
}

std::vector<AuthorizerConfig> ReadAuthorizers(const object& file, FieldErrors& errors) {
  std::vector<AuthorizerConfig> out;
  const boost::json::value* list = meta::FindField(file, "authorizers");
  if (!list || !list->is_array() || list->get_array().empty()) {
    errors.push_back(meta::Required("authorizers", "at least one authorization mode must be defined"));
    return out;
  }
  std::set<std::string> types, names;
  for (std::size_t i = 0; i < list->get_array().size(); ++i) {
    static const object none;
    const object& entry = list->get_array()[i].is_object() ? list->get_array()[i].get_object() : none;
    const Path path = Path("authorizers").Index(i);
    AuthorizerConfig config{.type = std::string(meta::FindString(entry, "type")),
                            .name = std::string(meta::FindString(entry, "name")),
                            .webhook = {},
                            .kubeconfig = {}};
    if (config.type.empty()) {
      errors.push_back(meta::Required(path.Child("type").ToString(), ""));
      continue;
    }
    if (std::find(Modes().begin(), Modes().end(), config.type) == Modes().end()) {
      errors.push_back(meta::NotSupported(path.Child("type").ToString(), Quoted(config.type), Modes()));
      continue;
    }
    if (!types.insert(config.type).second && config.type != "Webhook") {
      errors.push_back(meta::Duplicate(path.Child("type").ToString(), Quoted(config.type)));
      continue;
    }
    CheckName(config.name, names, path.Child("name"), errors);
    const boost::json::value* webhook = meta::FindField(entry, "webhook");
    const bool given = webhook && webhook->is_object();
    if (config.type != "Webhook") {
      if (given)
        errors.push_back(meta::Invalid(path.Child("webhook").ToString(), Quoted("non-null"),
                                       "may only be specified when type=Webhook"));
    } else if (!given) {
      errors.push_back(meta::Required(path.Child("webhook").ToString(), "required when type=Webhook"));
      continue;
    } else {
      ReadWebhook(webhook->get_object(), path, config, errors);
    }
    out.push_back(std::move(config));
  }
  return out;
}

meta::Result<std::vector<AuthorizerConfig>> FromFlags(const AuthorizationOptions& options) {
  const AuthorizationWebhookFlags& webhook = options.extensions.Get<AuthorizationWebhookFlags>();
  const std::vector<std::string> errors = credentials::AuthorizationFlagErrors(
      {options.modes, options.extensions.Get<AbacFlags>().policy_file, webhook.config_file});
  if (!errors.empty()) return meta::BadRequest(JoinErrors(errors));
  std::vector<AuthorizerConfig> out;
  for (const std::string& mode : options.modes) {
    AuthorizerConfig& config = out.emplace_back();
    config.type = mode;
    config.name = mode == "Webhook" ? "default" : LowerCase(mode);
    config.kubeconfig = webhook.config_file;
    config.webhook.version = webhook.version;
    config.webhook.authorized_ttl = webhook.authorized_ttl;
    config.webhook.unauthorized_ttl = webhook.unauthorized_ttl;
  }
  return out;
}

}  // namespace

meta::Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfig(std::string_view text,
                                                                     const std::set<std::string>& required_types) {
  const auto file = ParseStrictly(text, "AuthorizationConfiguration", {"v1", "v1beta1", "v1alpha1"}, FileShape());
  if (!file) return meta::BadRequest("failed to load AuthorizationConfiguration from file: " + file.error().Message());
  FieldErrors errors;
  std::vector<AuthorizerConfig> out = ReadAuthorizers(*file, errors);
  if (!errors.empty()) return meta::BadRequest(JoinFieldErrors(errors));
  std::vector<std::string> complaints;
  std::set<std::string> missing = required_types;
  for (const AuthorizerConfig& config : out) {
    if (config.type == "Webhook") continue;
    missing.erase(config.type);
    if (config.name != LowerCase(config.type)) {
      complaints.push_back(fmt::format("expected name {} for authorizer {} instead of {}", LowerCase(config.type),
                                       config.type, config.name));
    }
  }
  if (!missing.empty()) complaints.push_back(fmt::format("missing required types: [{}]", fmt::join(missing, " ")));
  if (!complaints.empty()) return meta::BadRequest(JoinErrors(complaints));
  return out;
}

meta::Result<std::vector<AuthorizerConfig>> LoadAuthorizationConfig(const AuthorizationOptions& options) {
  if (options.config_file.empty()) return FromFlags(options);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(options.config_file));
  return ParseAuthorizationConfig(text);
}

}  // namespace apimesh::authn_authz
