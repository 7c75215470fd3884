#include "services/core-api/groups/networking/ingress/validation.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "services/core-api/features/rule_features.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

/// What an update of an object may keep.
struct Tolerated {
  bool secret_names = false;
  bool wildcard_rules = false;
};

meta::Complaints CheckWildcardSubdomain(std::string_view text) {
  meta::Complaints complaints;
  if (text.size() > 253) complaints.push_back(meta::MaxLengthText(253));
  if (!text.starts_with("*.") || !meta::CheckDnsSubdomain(text.substr(2)).empty()) {
    complaints.push_back(meta::PatternText(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
        "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        R"(\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)", {"*.example.com"}));
  }
  return complaints;
}

bool IsWildcard(std::string_view host) { return host.find('*') != std::string_view::npos; }

void ValidateHost(const Check& holder, const meta::Path& path, std::string_view host) {
  CheckText(holder, path, host, IsWildcard(host) ? CheckWildcardSubdomain : meta::CheckDnsSubdomain);
}

meta::Complaints PathSegment(std::string_view text) { return meta::CheckPathSegment(text); }

void ValidateReference(const Check& reference) {
  if (reference.Has("apiGroup")) {
    CheckText(reference, reference.Path().Child("apiGroup"), reference.Text("apiGroup"), meta::CheckDnsSubdomain);
  }
  reference.RequireName("kind", PathSegment);
  reference.RequireName("name", PathSegment);
}

void ValidateServicePort(const Check& backend, const Check& service) {
  const std::string path = backend.Path().ToString();
  const std::optional<Check> port = service.Child("port");
  const bool name = port && !port->Text("name").empty(), number = port && port->Number("number").value_or(0) != 0;
  if (name && number) {
    backend.Add(meta::Invalid(path, "\"\"", "cannot set both port name & port number"));
  } else if (name) {
    port->Names("name", meta::CheckPortName);
  } else if (number) {
    for (std::string& complaint : meta::CheckPortNumber(*port->Number("number")))
      port->Invalid("number", std::move(complaint));
  } else {
    backend.Add(meta::Required(path, "port name or number is required"));
  }
}

void ValidateBackend(const Check& backend) {
  const std::optional<Check> resource = backend.Child("resource"), service = backend.Child("service");
  const std::string path = backend.Path().ToString();
  if (resource && service) {
    backend.Add(meta::Invalid(path, "\"\"", "cannot set both resource and service backends"));
  } else if (resource) {
    ValidateReference(*resource);
  } else if (service) {
    service->RequireName(
        "name", ActiveRuleFeatures().relaxed_service_name_validation ? meta::CheckDnsLabel : meta::CheckDns1035Label);
    ValidateServicePort(backend, *service);
  } else {
    backend.Add(meta::Invalid(path, "\"\"", "resource or service backend is required"));
  }
}

void ValidatePath(const Check& rule) {
  const auto invalid = [&rule](std::string detail) {
    rule.Add(meta::Invalid(rule.Path().Child("path").ToString(), meta::Quoted(rule.Text("path")), std::move(detail)));
  };
  if (!rule.Has("pathType")) {
    rule.Add(meta::Required(rule.Path().Child("pathType").ToString(), "pathType must be specified"));
    return;
  }
  const std::string_view type = rule.Text("pathType"), path = rule.Text("path");
  if (type == "Exact" || type == "Prefix") {
    if (!path.starts_with('/')) invalid("must be an absolute path");
    for (const char* part : {"//", "/./", "/../", "%2f", "%2F"}) {
      if (path.find(part) != std::string_view::npos) invalid(fmt::format("must not contain '{}'", part));
    }
    for (const char* end : {"/..", "/."}) {
      if (path.ends_with(end)) invalid(fmt::format("cannot end with '{}'", end));
    }
  } else if (type == "ImplementationSpecific") {
    if (!path.empty() && !path.starts_with('/')) invalid("must be an absolute path");
  } else {
    rule.Add(meta::NotSupported(rule.Path().Child("pathType").ToString(), meta::Quoted(type),
                                {"Exact", "ImplementationSpecific", "Prefix"}));
  }
  static const meta::json::object none;
  const std::optional<Check> backend = rule.Child("backend");
  meta::FieldErrors errors;
  ValidateBackend(Check(backend ? backend->Object() : none, rule.Path().Child("backend"), errors));
  for (meta::FieldError& error : errors) rule.Add(std::move(error));
}

void ValidatePaths(const Check& rule) {
  const std::optional<Check> http = rule.Child("http");
  if (!http) return;
  if (SizeOf(*http, "paths") == 0) http->Add(meta::Required(http->Path().Child("paths").ToString(), ""));
  for (const Check& path : http->Each("paths")) ValidatePath(path);
}

void ValidateRule(const Check& rule, const Tolerated& tolerated) {
  const std::string_view host = rule.Text("host");
  if (!host.empty()) {
    if (!IpFamilyOf(host).empty()) rule.Invalid("host", "must be a DNS name, not an IP address");
    ValidateHost(rule, rule.Path().Child("host"), host);
  }
  if (!IsWildcard(host) || !tolerated.wildcard_rules) ValidatePaths(rule);
}

void ValidateTls(const Check& spec, const Tolerated& tolerated) {
  for (const Check& tls : spec.Each("tls")) {
    std::size_t index = 0;
    for (const std::string_view host : TextsOf(tls, "hosts"))
      ValidateHost(tls, tls.Path().Child("hosts").Index(index++), host);
    if (!tolerated.secret_names) tls.Names("secretName", meta::CheckDnsSubdomain);
  }
}

Tolerated ToleratedFor(const meta::Object& old) {
  Tolerated tolerated;
  meta::FieldErrors ignored;
  const Check spec = SpecOf(old, ignored);
  for (const Check& tls : spec.Each("tls")) {
    const std::string_view name = tls.Text("secretName");
    tolerated.secret_names |= !name.empty() && !meta::CheckDnsSubdomain(name).empty();
  }
  for (const Check& rule : spec.Each("rules")) {
    if (!IsWildcard(rule.Text("host"))) continue;
    meta::FieldErrors errors;
    ValidatePaths(Check(rule.Object(), rule.Path(), errors));
    tolerated.wildcard_rules |= !errors.empty();
  }
  return tolerated;
}

}  // namespace

meta::FieldErrors ValidateIngress(const meta::Object& ingress, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(ingress, errors);
  const Tolerated tolerated = old ? ToleratedFor(*old) : Tolerated();
  const std::optional<Check> backend = spec.Child("defaultBackend");
  if (SizeOf(spec, "rules") == 0 && !backend)
    errors.push_back(meta::Invalid("spec", "null", "either `defaultBackend` or `rules` must be specified"));
  if (backend) ValidateBackend(*backend);
  for (const Check& rule : spec.Each("rules")) ValidateRule(rule, tolerated);
  ValidateTls(spec, tolerated);
  if (spec.Has("ingressClassName"))
    CheckText(spec, spec.Path().Child("ingressClassName"), spec.Text("ingressClassName"), meta::CheckDnsSubdomain);
  const meta::json::value* annotation = FindAnnotation(ingress, kIngressClass);
  if (!old && annotation && spec.Has("ingressClassName") && annotation->is_string() &&
      std::string_view(annotation->get_string()) != spec.Text("ingressClassName")) {
    errors.push_back(meta::Invalid(fmt::format("annotations.{}", kIngressClass), Shown(annotation),
                                   "must match `ingressClassName` when both are specified"));
  }
  return errors;
}

meta::FieldErrors ValidateIngressStatus(const meta::Object& ingress, const meta::Object& old) {
  meta::FieldErrors errors, ignored;
  const auto balancer = [](const meta::Object& object, meta::FieldErrors& list) -> std::optional<Check> {
    const std::optional<Check> status = Check(object.Root(), meta::Path(), list).Child("status");
    return status ? status->Child("loadBalancer") : std::nullopt;
  };
  std::set<std::string_view> known;
  if (const std::optional<Check> before = balancer(old, ignored)) {
    for (const Check& point : before->Each("ingress")) known.insert(point.Text("ip"));
  }
  const std::optional<Check> now = balancer(ingress, errors);
  if (!now) return errors;
  for (const Check& point : now->Each("ingress")) {
    const std::string_view ip = point.Text("ip"), host = point.Text("hostname");
    if (!known.contains(ip)) point.Names("ip", CheckIp);
    point.Names("hostname", meta::CheckDnsSubdomain);
    if (!IpFamilyOf(host).empty()) point.Invalid("hostname", "must be a DNS name, not an IP address");
  }
  return errors;
}

}  // namespace apimesh::core_api
