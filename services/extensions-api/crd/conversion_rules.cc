#include "services/extensions-api/crd/conversion_rules.h"

#include <set>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/credentials/option_rules.h"
#include "lib/meta/names.h"
#include "services/extensions-api/crd/conditions.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;

// The names of the internal type of kube-apiserver, which its messages show.
constexpr char kClientConfig[] = "spec.conversion.webhookClientConfig";
constexpr char kReviewVersions[] = "spec.conversion.conversionReviewVersions";

/// Validates the path of a service, whose segments are DNS names.
void CheckServicePath(std::string_view path, FieldErrors& errors) {
  const std::string field = fmt::format("{}.service.path", kClientConfig);
  const auto complain = [&](std::string detail) {
    errors.push_back(meta::Invalid(field, meta::Quoted(path), std::move(detail)));
  };
  if (path.empty() || path == "/") return;
  if (path == "//") return complain("segment[0] may not be empty");
  if (!path.starts_with('/')) complain("must start with a '/'");
  std::string_view rest = path.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (std::size_t i = 0; !errors.Full(); ++i) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    if (segment.empty()) {
      complain(fmt::format("segment[{}] may not be empty", i));
    } else {
      for (const std::string& complaint : meta::CheckDnsSubdomain(segment))
        complain(fmt::format("segment[{}]: {}", i, complaint));
    }
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void CheckService(const json::object& service, FieldErrors& errors) {
  // kube-apiserver reports a missing name as a missing namespace, and the other way round.
  const auto needs = [&](std::string_view field, std::string_view reported) {
    if (meta::FindString(service, field).empty())
      errors.push_back(meta::Required(fmt::format("{}.service.{}", kClientConfig, reported), ""));
  };
  needs("namespace", "name");
  needs("name", "namespace");
  const json::value* port = meta::FindField(service, "port");
  if (port && port->is_int64() && (port->get_int64() < 1 || port->get_int64() > 65535)) {
    errors.push_back(meta::Invalid(fmt::format("{}.service.port", kClientConfig), std::to_string(port->get_int64()),
                                   "port is not valid: must be between 1 and 65535, inclusive"));
  }
  CheckServicePath(meta::FindString(service, "path"), errors);
}

/// Removes the text after `separator` from `text` and returns it.
std::string_view CutAfter(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

void CheckUrl(std::string_view url, FieldErrors& errors) {
  constexpr std::string_view kForm = "; desired format: https://host[/path]";
  const auto complain = [&](std::string_view part, std::string detail) {
    errors.push_back(meta::Invalid(fmt::format("{}.url", kClientConfig), meta::Quoted(part), std::move(detail)));
  };
  const std::string_view fragment = CutAfter(url, '#'), query = CutAfter(url, '?');
  const std::size_t colon = url.find("://");
  const std::string_view scheme = colon == std::string_view::npos ? std::string_view() : url.substr(0, colon);
  std::string_view host = colon == std::string_view::npos ? std::string_view() : url.substr(colon + 3);
  host = host.substr(0, host.find('/'));
  const std::size_t at = host.rfind('@');
  const std::string_view user = at == std::string_view::npos ? std::string_view() : host.substr(0, at);
  if (at != std::string_view::npos) host.remove_prefix(at + 1);
  if (scheme != "https") complain(scheme, fmt::format("'https' is the only allowed URL scheme{}", kForm));
  if (host.empty()) complain(host, fmt::format("host must be specified{}", kForm));
  if (at != std::string_view::npos) complain(user, "user information is not permitted in the URL");
  if (!fragment.empty()) complain(fragment, "fragments are not permitted in the URL");
  if (!query.empty()) complain(query, "query parameters are not permitted in the URL");
}

void CheckClientConfig(const json::value* config, FieldErrors& errors) {
  if (!config || !config->is_object())
    return errors.push_back(meta::Required(kClientConfig, "required when strategy is set to Webhook"));
  const json::value* url = meta::FindField(config->get_object(), "url");
  const json::value* service = meta::FindField(config->get_object(), "service");
  const bool has_url = url && url->is_string(), has_service = service && service->is_object();
  if (has_url == has_service)
    return errors.push_back(meta::Required(kClientConfig, "exactly one of url or service is required"));
  if (has_url) return CheckUrl(url->get_string(), errors);
  CheckService(service->get_object(), errors);
}

void CheckReviewVersions(const json::array& versions, FieldErrors& errors) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < versions.size() && !errors.Full(); ++i) {
    const std::string name(versions[i].is_string() ? std::string_view(versions[i].get_string()) : std::string_view());
    const std::string field = fmt::format("{}[{}]", kReviewVersions, i);
    if (!seen.insert(name).second) {
      errors.push_back(meta::Invalid(field, meta::Quoted(name), "duplicate version"));
      continue;
    }
    for (const std::string& complaint : meta::CheckDns1035Label(name))
      errors.push_back(meta::Invalid(field, meta::Quoted(name), complaint));
  }
  if (!seen.contains("v1") && !seen.contains("v1beta1")) {
    errors.push_back(
        meta::Invalid(kReviewVersions, codec::WriteJson(versions), "must include at least one of v1, v1beta1"));
  }
}

/// Returns the decoded caBundle of the conversion webhook; "" if it has none.
std::string CaBundle(const meta::Object& crd) {
  const json::value* webhook = meta::Find(crd.Root(), "spec", "conversion", "webhook");
  const json::value* bundle =
      webhook && webhook->is_object() ? meta::Find(webhook->get_object(), "clientConfig", "caBundle") : nullptr;
  std::string bytes;
  if (bundle && bundle->is_string()) (void)DecodeBase64(std::string_view(bundle->get_string()), bytes);
  return bytes;
}

}  // namespace

bool HasUsableCaBundle(const meta::Object& crd) {
  const std::string bundle = CaBundle(crd);
  return bundle.empty() || credentials::HasCertificate(bundle);
}

FieldErrors ValidateCaBundleUpdate(const meta::Object& crd, const meta::Object& old) {
  FieldErrors errors;
  if (!IsTrue(old, "Established") || !HasUsableCaBundle(old) || HasUsableCaBundle(crd)) return errors;
  std::string shown = "[]byte{";
  for (const char c : CaBundle(crd))
    shown += fmt::format("{}0x{:x}", shown.ends_with('{') ? "" : ", ", static_cast<unsigned char>(c));
  errors.push_back(meta::Invalid(fmt::format("{}.caBundle", kClientConfig), shown + "}",
                                 "unable to load root certificates: unable to parse bytes as PEM block"));
  return errors;
}

FieldErrors ValidateConversion(const meta::Object& crd) {
  FieldErrors errors;
  const json::value* conversion = meta::Find(crd.Root(), "spec", "conversion");
  if (!conversion || !conversion->is_object()) return errors;
  const json::object& object = conversion->get_object();
  const std::string_view strategy = meta::FindString(object, "strategy");
  const json::value* config = meta::Find(object, "webhook", "clientConfig");
  const json::value* versions = meta::Find(object, "webhook", "conversionReviewVersions");
  const bool has_versions = versions && versions->is_array() && !versions->get_array().empty();
  if (strategy.empty()) {
    errors.push_back(meta::Required("spec.conversion.strategy", ""));
  } else if (strategy != "None" && strategy != "Webhook") {
    errors.push_back(meta::NotSupported("spec.conversion.strategy", meta::Quoted(strategy), {"None", "Webhook"}));
  }
  if (strategy == "Webhook") {
    CheckClientConfig(config, errors);
    if (has_versions) {
      CheckReviewVersions(versions->get_array(), errors);
    } else {
      errors.push_back(meta::Required(kReviewVersions, ""));
    }
    return errors;
  }
  constexpr char kNotUsed[] = "should not be set when strategy is not set to Webhook";
  if (config) errors.push_back(meta::Forbidden(kClientConfig, kNotUsed));
  if (has_versions) errors.push_back(meta::Forbidden(kReviewVersions, kNotUsed));
  return errors;
}

}  // namespace apimesh::extensions_api
