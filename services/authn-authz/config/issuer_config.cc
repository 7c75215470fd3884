#include "services/authn-authz/config/issuer_config.h"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "lib/http/proxy/dialer.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"
#include "services/authn-authz/config/expressions.h"

namespace apimesh::authn_authz {
namespace {

using boost::json::object;
using meta::FieldErrors;
using meta::Path;
using meta::Quoted;

// The algorithms that a configuration file allows: all asymmetric ones.
const std::vector<credentials::Algorithm> kAllAlgorithms{
    credentials::Algorithm::kRs256, credentials::Algorithm::kRs384, credentials::Algorithm::kRs512,
    credentials::Algorithm::kPs256, credentials::Algorithm::kPs384, credentials::Algorithm::kPs512,
    credentials::Algorithm::kEs256, credentials::Algorithm::kEs384, credentials::Algorithm::kEs512};

const object& ObjectAt(const object& parent, std::string_view field) {
  static const object none;
  const boost::json::value* value = meta::FindField(parent, field);
  return value && value->is_object() ? value->get_object() : none;
}

std::vector<object> ObjectsAt(const object& parent, std::string_view field) {
  std::vector<object> out;
  const boost::json::value* value = meta::FindField(parent, field);
  if (!value || !value->is_array()) return out;
  for (const boost::json::value& item : value->get_array())
    out.push_back(item.is_object() ? item.get_object() : object());
  return out;
}

void CheckUrl(const std::string& text, const std::set<std::string>& disallowed, const Path& path, FieldErrors& errors) {
  const auto invalid = [&](std::string why) {
    errors.push_back(meta::Invalid(path.ToString(), Quoted(text), std::move(why)));
  };
  if (disallowed.contains(text))
    invalid(fmt::format("URL must not overlap with disallowed issuers: [{}]", fmt::join(disallowed, " ")));
  const auto url = boost::urls::parse_uri_reference(text);
  if (!url) return invalid(fmt::format("parse {}: invalid URL", Quoted(text)));
  if (url->scheme() != "https") invalid("URL scheme must be https");
  if (url->has_userinfo()) invalid("URL must not contain a username or password");
  if (url->has_query() && !url->encoded_query().empty()) invalid("URL must not contain a query");
  if (url->has_fragment() && !url->encoded_fragment().empty()) invalid("URL must not contain a fragment");
}

std::string_view WithoutSlashes(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

bool HoldsCertificate(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  X509_free(certificate);
  BIO_free_all(bio);
  ERR_clear_error();
  return certificate != nullptr;
}

void ReadAudiences(const object& issuer, const Path& path, OidcOptions& out, FieldErrors& errors) {
  const Path where = path.Child("audiences");
  if (const boost::json::value* list = meta::FindField(issuer, "audiences"); list && list->is_array()) {
    for (const boost::json::value& item : list->get_array())
      out.audiences.emplace_back(item.is_string() ? std::string(item.get_string()) : "");
  }
  if (out.audiences.empty()) {
    errors.push_back(meta::Required(where.ToString(), fmt::format("at least one {} is required", where.ToString())));
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < out.audiences.size(); ++i) {
    const std::string& audience = out.audiences[i];
    if (audience.empty()) errors.push_back(meta::Required(where.Index(i).ToString(), ""));
    if (!seen.insert(audience).second) errors.push_back(meta::Duplicate(where.Index(i).ToString(), Quoted(audience)));
  }
  const std::string policy(meta::FindString(issuer, "audienceMatchPolicy"));
  const std::string policy_path = path.Child("audienceMatchPolicy").ToString();
  if (out.audiences.size() > 1 && policy != "MatchAny") {
    errors.push_back(
        meta::Invalid(policy_path, Quoted(policy), "audienceMatchPolicy must be MatchAny for multiple audiences"));
  }
  if (out.audiences.size() == 1 && !policy.empty() && policy != "MatchAny") {
    errors.push_back(meta::Invalid(policy_path, Quoted(policy),
                                   "audienceMatchPolicy must be empty or MatchAny for single audience"));
  }
}

void ReadEgress(const object& issuer, const Path& path, OidcOptions& out, FieldErrors& errors) {
  const std::string_view type = meta::FindString(issuer, "egressSelectorType");
  if (type.empty()) return;
  const auto invalid = [&](const char* why) {
    errors.push_back(meta::Invalid(path.Child("egressSelectorType").ToString(), Quoted(type), why));
  };
  if (type != "controlplane" && type != "cluster")
    return invalid("egress selector must be either controlplane or cluster");
  out.network = type == "cluster" ? http::Network::kCluster : http::Network::kControlPlane;
  if (!http::IsConfigured(out.network)) invalid("--egress-selector-config-file does not have this selection");
}

void ReadIssuerPart(const object& issuer, const Path& path, const std::set<std::string>& disallowed, OidcOptions& out,
                    FieldErrors& errors) {
  out.issuer_url = meta::FindString(issuer, "url");
  if (out.issuer_url.empty())
    errors.push_back(meta::Required(path.Child("url").ToString(), ""));
  else
    CheckUrl(out.issuer_url, disallowed, path.Child("url"), errors);
  out.discovery_url = meta::FindString(issuer, "discoveryURL");
  if (!out.discovery_url.empty()) {
    const Path where = path.Child("discoveryURL");
    if (!out.issuer_url.empty() && WithoutSlashes(out.issuer_url) == WithoutSlashes(out.discovery_url)) {
      errors.push_back(
          meta::Invalid(where.ToString(), Quoted(out.discovery_url), "discoveryURL must be different from URL"));
    }
    CheckUrl(out.discovery_url, {}, where, errors);
  }
  ReadAudiences(issuer, path, out, errors);
  out.ca_pem = meta::FindString(issuer, "certificateAuthority");
  if (!out.ca_pem.empty() && !HoldsCertificate(out.ca_pem)) {
    errors.push_back(meta::Invalid(path.Child("certificateAuthority").ToString(), Quoted("<omitted>"),
                                   "data does not contain any valid RSA or ECDSA certificates"));
  }
  ReadEgress(issuer, path, out, errors);
}

void ReadClaimRules(const object& jwt, const Path& path, OidcOptions& out, FieldErrors& errors) {
  std::set<std::string> claims, expressions;
  const std::vector<object> rules = ObjectsAt(jwt, "claimValidationRules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Path where = path.Index(i);
    const std::string claim(meta::FindString(rules[i], "claim")), expression(meta::FindString(rules[i], "expression"));
    const std::string message(meta::FindString(rules[i], "message")),
        value(meta::FindString(rules[i], "requiredValue"));
    if (!claim.empty() && !expression.empty()) {
      errors.push_back(meta::Invalid(where.ToString(), Quoted(claim), "claim and expression can't both be set"));
    } else if (claim.empty() && expression.empty()) {
      errors.push_back(meta::Required(where.ToString(), "claim or expression is required"));
    } else if (!claim.empty()) {
      if (!message.empty())
        errors.push_back(meta::Invalid(where.Child("message").ToString(), Quoted(message),
                                       "may not be specified when claim is set"));
      if (!claims.insert(claim).second)
        errors.push_back(meta::Duplicate(where.Child("claim").ToString(), Quoted(claim)));
      out.required_claims[claim] = value;
    } else {
      if (!value.empty())
        errors.push_back(meta::Invalid(where.Child("requiredValue").ToString(), Quoted(value),
                                       "may not be specified when expression is set"));
      if (!expressions.insert(expression).second) {
        errors.push_back(meta::Duplicate(where.Child("expression").ToString(), Quoted(expression)));
        continue;
      }
      auto program = CompileExpression(expression, ExpressionScope::kClaims, ExpressionResult::kBool,
                                       where.Child("expression"), errors);
      if (program) out.claim_rules.push_back({std::move(*program), message});
    }
  }
}

void ReadMapping(const object& mapping, const Path& path, bool required, std::string& claim, std::string& prefix,
                 std::optional<cel::Program>& program, FieldErrors& errors) {
  claim = meta::FindString(mapping, "claim");
  const std::string expression(meta::FindString(mapping, "expression"));
  const boost::json::value* given_prefix = meta::FindField(mapping, "prefix");
  if (given_prefix && given_prefix->is_string()) prefix = given_prefix->get_string();
  if (!claim.empty() && !expression.empty()) {
    errors.push_back(meta::Invalid(path.ToString(), Quoted(""), "claim and expression can't both be set"));
  } else if (!expression.empty()) {
    if (given_prefix && !given_prefix->is_null()) {
      errors.push_back(meta::Invalid(path.Child("prefix").ToString(), Quoted(prefix),
                                     "may not be specified when expression is set"));
    }
    program = CompileExpression(expression, ExpressionScope::kClaims, ExpressionResult::kAnything,
                                path.Child("expression"), errors);
  } else if (!claim.empty()) {
    if (!given_prefix || given_prefix->is_null()) {
      errors.push_back(meta::Required(
          path.Child("prefix").ToString(),
          "prefix is required when claim is set. It can be set to an empty string to disable prefixing"));
    }
  } else if (required) {
    errors.push_back(meta::Required(path.ToString(), "claim or expression is required"));
  }
}

void CheckExtraKey(const std::string& key, const Path& path, FieldErrors& errors) {
  const auto invalid = [&](std::string_view value, std::string why) {
    errors.push_back(meta::Invalid(path.ToString(), Quoted(value), std::move(why)));
  };
  const std::size_t slash = key.find('/');
  if (key.empty()) {
    errors.push_back(meta::Required(path.ToString(), ""));
  } else if (slash == key.npos || slash == 0 || slash + 1 == key.size()) {
    invalid(key, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  } else {
    for (const std::string& complaint : meta::CheckDnsSubdomain(key.substr(0, slash)))
      invalid(key.substr(0, slash), complaint);
  }
  if (std::any_of(key.begin(), key.end(), [](unsigned char c) { return std::isupper(c); }))
    invalid(key, "must be lowercase");
  const std::string domain = slash == key.npos ? "" : key.substr(0, slash);
  for (const std::string reserved : {"kubernetes.io", "k8s.io"}) {
    if (domain == reserved || domain.ends_with("." + reserved))
      invalid(key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
  }
}

void ReadExtra(const object& mappings, const Path& path, OidcOptions& out, FieldErrors& errors) {
  std::set<std::string> seen;
  const std::vector<object> entries = ObjectsAt(mappings, "extra");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Path where = path.Child("extra").Index(i);
    const std::string key(meta::FindString(entries[i], "key")),
        expression(meta::FindString(entries[i], "valueExpression"));
    CheckExtraKey(key, where.Child("key"), errors);
    if (!seen.insert(key).second) {
      errors.push_back(meta::Duplicate(where.Child("key").ToString(), Quoted(key)));
    } else if (expression.empty()) {
      errors.push_back(meta::Required(where.Child("valueExpression").ToString(), ""));
    } else {
      auto program = CompileExpression(expression, ExpressionScope::kClaims, ExpressionResult::kAnything,
                                       where.Child("valueExpression"), errors);
      if (program) out.extra.push_back({key, std::move(*program)});
    }
  }
}

void CheckEmail(const Path& path, const OidcOptions& out, FieldErrors& errors) {
  if (!out.username_expression || !out.username_expression->Selects("claims", "email")) return;
  const auto verified = [](const cel::Program& program) { return program.Selects("claims", "email_verified"); };
  const bool used =
      verified(*out.username_expression) ||
      std::any_of(out.extra.begin(), out.extra.end(), [&](const auto& extra) { return verified(extra.program); }) ||
      std::any_of(out.claim_rules.begin(), out.claim_rules.end(),
                  [&](const auto& rule) { return verified(rule.program); });
  if (used) return;
  errors.push_back(meta::Invalid(
      path.Child("username").Child("expression").ToString(), Quoted(out.username_expression->Source()),
      "claims.email_verified must be used in claimMappings.username.expression or "
      "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used "
      "in claimMappings.username.expression"));
}

void ReadMappings(const object& mappings, const Path& path, OidcOptions& out, FieldErrors& errors) {
  ReadMapping(ObjectAt(mappings, "username"), path.Child("username"), true, out.username_claim, out.username_prefix,
              out.username_expression, errors);
  ReadMapping(ObjectAt(mappings, "groups"), path.Child("groups"), false, out.groups_claim, out.groups_prefix,
              out.groups_expression, errors);
  const object& uid = ObjectAt(mappings, "uid");
  out.uid_claim = meta::FindString(uid, "claim");
  const std::string uid_expression(meta::FindString(uid, "expression"));
  if (!out.uid_claim.empty() && !uid_expression.empty()) {
    errors.push_back(meta::Invalid(path.Child("uid").ToString(), Quoted(""), "claim and expression can't both be set"));
  } else if (!uid_expression.empty()) {
    out.uid_expression = CompileExpression(uid_expression, ExpressionScope::kClaims, ExpressionResult::kAnything,
                                           path.Child("uid").Child("expression"), errors);
  }
  ReadExtra(mappings, path, out, errors);
  CheckEmail(path, out, errors);
}

void ReadUserRules(const object& jwt, const Path& path, OidcOptions& out, FieldErrors& errors) {
  std::set<std::string> seen;
  const std::vector<object> rules = ObjectsAt(jwt, "userValidationRules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Path where = path.Index(i).Child("expression");
    const std::string expression(meta::FindString(rules[i], "expression"));
    if (expression.empty()) {
      errors.push_back(meta::Required(where.ToString(), ""));
    } else if (!seen.insert(expression).second) {
      errors.push_back(meta::Duplicate(where.ToString(), Quoted(expression)));
    } else if (auto program =
                   CompileExpression(expression, ExpressionScope::kUser, ExpressionResult::kBool, where, errors)) {
      out.user_rules.push_back({std::move(*program), std::string(meta::FindString(rules[i], "message"))});
    }
  }
}

}  // namespace

OidcOptions ReadIssuer(const object& jwt, const Path& path, const std::set<std::string>& disallowed,
                       FieldErrors& errors) {
  OidcOptions out;
  out.algorithms = kAllAlgorithms;
  ReadIssuerPart(ObjectAt(jwt, "issuer"), path.Child("issuer"), disallowed, out, errors);
  ReadClaimRules(jwt, path.Child("claimValidationRules"), out, errors);
  ReadMappings(ObjectAt(jwt, "claimMappings"), path.Child("claimMappings"), out, errors);
  ReadUserRules(jwt, path.Child("userValidationRules"), out, errors);
  return out;
}

}  // namespace apimesh::authn_authz
