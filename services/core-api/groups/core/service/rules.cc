
#include "services/core-api/groups/core/service/rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/groups/core/service/fields.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/enums.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

constexpr std::int64_t kMaxAffinitySeconds = 86400;

void ValidatePorts(const Check& spec, bool required) {
  const Checks ports = spec.Each("ports");
  const bool many = ports.size() > 1;
  if (ports.empty() && required) spec.Add(meta::Required("spec.ports", ""));
  std::set<std::string_view> names;
  for (const Check& port : ports) {
    if (const std::string_view name = port.Text("name"); !name.empty()) {
      port.Names("name", meta::CheckDnsLabel);
      if (!names.insert(name).second)
        port.Add(meta::Duplicate(port.Path().Child("name").ToString(), meta::Quoted(name)));
    } else if (many) {
      port.Require("name");
    }
    const std::int64_t number = port.Number("port").value_or(0);
    for (std::string& complaint : meta::CheckPortNumber(number)) {
      port.Add(meta::Invalid(port.Path().Child("port").ToString(), fmt::format("{}", number), std::move(complaint)));
    }
    port.RequireOneOf("protocol", {"SCTP", "TCP", "UDP"});
    ValidatePortOrName(port, "targetPort");
    if (port.Has("appProtocol"))
      CheckText(port, port.Path().Child("appProtocol"), port.Text("appProtocol"), &meta::CheckQualifiedName);
  }
}

void ValidateType(const meta::Object& service, const Check& spec) {
  const std::string_view type = spec.Text("type");
  if (IsHeadless(service) && (type == "LoadBalancer" || type == "NodePort")) {
    spec.Add(
        meta::Invalid("spec.clusterIPs[0]", "\"None\"", fmt::format("may not be set to 'None' for {} services", type)));
  }
  if (type != "ExternalName") return;
  for (const char* field : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"})
    spec.Forbid(field, "may not be set for ExternalName services");
  std::string_view name = spec.Text("externalName");
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) spec.Add(meta::Required("spec.externalName", ""));
  for (std::string& complaint : name.empty() ? meta::Complaints() : meta::CheckDnsSubdomain(name)) {
    spec.Add(meta::Invalid("spec.externalName", meta::Quoted(name), std::move(complaint)));
  }
}

void ValidateSessionAffinity(const Check& spec) {
  spec.RequireOneOf("sessionAffinity", {"ClientIP", "None"});
  if (spec.Text("sessionAffinity") != "ClientIP") return;
  const std::optional<Check> config = spec.Child("sessionAffinityConfig");
  const std::optional<Check> client = config ? config->Child("clientIP") : std::nullopt;
  if (!client) return;
  if (const auto seconds = client->Number("timeoutSeconds");
      seconds && (*seconds <= 0 || *seconds > kMaxAffinitySeconds)) {
    client->Invalid("timeoutSeconds", fmt::format("must be greater than 0 and less than {}", kMaxAffinitySeconds));
  }
}

/// Reports duplicate ports.
void ValidateUnique(const Check& spec) {
  std::set<std::pair<std::string_view, std::int64_t>> node_ports, ports;
  const Checks all = spec.Each("ports");
  if (spec.Text("type") == "ClusterIP") {
    for (const Check& port : all) {
      if (port.Number("nodePort").value_or(0) != 0)
        port.Forbid("nodePort", "may not be used when `type` is 'ClusterIP'");
    }
  }
  for (const Check& port : all) {
    const std::int64_t number = port.Number("nodePort").value_or(0);
    if (number != 0 && !node_ports.emplace(port.Text("protocol"), number).second) {
      port.Add(meta::Duplicate(port.Path().Child("nodePort").ToString(), fmt::format("{}", number)));
    }
  }
  for (const Check& port : all) {
    const std::int64_t number = port.Number("port").value_or(0);
    if (ports.emplace(port.Text("protocol"), number).second) continue;
    // kube-apiserver shows its internal representation of a port here.
    port.Add(meta::Duplicate(
        port.Path().ToString(),
        fmt::format(R"({{"Name":"","Protocol":"{}","AppProtocol":null,"Port":{},"TargetPort":0,"NodePort":0}})",
                    port.Text("protocol"), number)));
  }
}

std::vector<std::string> Texts(const meta::json::object& object, std::string_view field) {
  std::vector<std::string> texts;
  const meta::json::value* list = meta::FindField(object, field);
  if (!list || !list->is_array()) return texts;
  for (const meta::json::value& text : list->get_array()) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

bool Contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// An address that the service had before is accepted even if its notation is no longer allowed.
void ValidateExternalIps(const Check& spec, const meta::Object* old) {
  const std::vector<std::string> ips = Texts(spec.Object(), "externalIPs");
  const std::vector<std::string> before = old ? Texts(ServiceSpec(*old), "externalIPs") : std::vector<std::string>();
  for (std::size_t i = 0; i < ips.size(); ++i) {
    meta::Complaints complaints;
    if (!Contains(before, ips[i])) complaints = CheckIp(ips[i]);
    if (complaints.empty()) complaints = CheckEndpointIp(ips[i]);
    for (std::string& complaint : complaints) {
      spec.Add(meta::Invalid(fmt::format("spec.externalIPs[{}]", i), meta::Quoted(ips[i]), std::move(complaint)));
    }
  }
}

constexpr const char* kOnlyBalancers = "may only be used when `type` is 'LoadBalancer'";

void ValidateBalancerClass(const Check& spec) {
  if (!spec.Has("loadBalancerClass")) return;
  if (spec.Text("type") != "LoadBalancer") return spec.Forbid("loadBalancerClass", kOnlyBalancers);
  CheckText(spec, spec.Path().Child("loadBalancerClass"), spec.Text("loadBalancerClass"), &meta::CheckQualifiedName);
}

void ValidateBalancer(const Check& spec) {
  const bool balanced = spec.Text("type") == "LoadBalancer";
  const meta::Path ranges = spec.Path().Child("LoadBalancerSourceRanges");  // as kube-apiserver writes it
  std::size_t index = 0;
  for (std::string_view range : TextsOf(spec, "loadBalancerSourceRanges")) {
    if (index == 0 && !balanced) spec.Add(meta::Forbidden(ranges.ToString(), kOnlyBalancers));
    while (range.starts_with(' ')) range.remove_prefix(1);
    while (range.ends_with(' ')) range.remove_suffix(1);
    CheckText(spec, ranges.Index(index++), range, &CheckCidr);
  }
  if (!balanced) spec.Forbid("allocateLoadBalancerNodePorts", kOnlyBalancers);
  ValidateBalancerClass(spec);
}

void ValidateFamilies(const Check& spec) {
  std::set<std::string_view> seen;
  const meta::Path path = spec.Path().Child("ipFamilies");
  std::size_t index = 0;
  for (const std::string_view family : TextsOf(spec, "ipFamilies")) {
    const std::string place = path.Index(index++).ToString();
    if (family != "IPv4" && family != "IPv6") {
      spec.Add(meta::NotSupported(place, meta::Quoted(family), {"IPv4", "IPv6"}));
    } else if (!seen.insert(family).second) {
      spec.Add(meta::Duplicate(place, meta::Quoted(family)));
    }
  }
}

void ValidateTraffic(const meta::Object& service, const Check& spec) {
  if (!IsExternallyAccessible(spec.Object())) {
    if (!spec.Text("externalTrafficPolicy").empty())
      spec.Invalid("externalTrafficPolicy", "may only be set for externally-accessible services");
  } else {
    spec.RequireOneOf("externalTrafficPolicy", {"Cluster", "Local"});
  }
  const std::int64_t port = spec.Number("healthCheckNodePort").value_or(0);
  if (!NeedsHealthCheckPort(service) && port != 0) {
    spec.Invalid("healthCheckNodePort",
                 "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  }
  if (spec.Has("internalTrafficPolicy")) ValidateEnum(spec, "internalTrafficPolicy", {"Cluster", "Local"});
  if (spec.Has("trafficDistribution"))
    ValidateEnum(spec, "trafficDistribution", {"PreferClose", "PreferSameZone", "PreferSameNode"});
}

}  // namespace

meta::FieldErrors ValidateClusterIps(const meta::Object& service, const meta::Object* old) {
  meta::FieldErrors errors;
  if (!NeedsClusterIp(service)) return errors;
  const Check spec(ServiceSpec(service), meta::Path("spec"), errors);
  const std::vector<std::string> ips = ClusterIps(service),
                                 before = old ? ClusterIps(*old) : std::vector<std::string>();
  if (const std::string_view ip = spec.Text("clusterIP"); !ip.empty()) {
    if (ips.empty()) {
      errors.push_back(meta::Required("spec.clusterIPs", ""));
    } else if (ips.front() != ip) {
      spec.Invalid("clusterIPs", "first value must match `clusterIP`");
    }
  } else if (!ips.empty()) {
    spec.Invalid("clusterIPs", "must be empty when `clusterIP` is not specified");
  }
  ValidateFamilies(spec);
  if (spec.Has("ipFamilyPolicy"))
    ValidateEnum(spec, "ipFamilyPolicy", {"PreferDualStack", "RequireDualStack", "SingleStack"});
  bool bad = false;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    if (i == 0 && ips[i] == "None") {
      if (ips.size() > 1) spec.Invalid("clusterIPs", "'None' must be the first and only value");
      bad |= ips.size() > 1;
      continue;
    }
    for (std::string& complaint : Contains(before, ips[i]) ? meta::Complaints() : CheckIp(ips[i])) {
      bad = true;
      errors.push_back(
          meta::Invalid(fmt::format("spec.clusterIPs[{}]", i), meta::Quoted(ips[i]), std::move(complaint)));
    }
  }
  if (ips.size() > 2) spec.Invalid("clusterIPs", "may only hold up to 2 values");
  if (!bad && ips.size() == 2 && FamilyOf(ips[0]) == FamilyOf(ips[1])) {
    spec.Invalid("clusterIPs", "may specify no more than one IP for each IP family");
  }
  return errors;
}

meta::FieldErrors ValidateService(const meta::Object& service, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec(ServiceSpec(service), meta::Path("spec"), errors);
  ValidateType(service, spec);
  ValidatePorts(spec, !IsHeadless(service) && spec.Text("type") != "ExternalName");
  for (meta::FieldError& error :
       meta::ValidateLabels(meta::FindField(spec.Object(), "selector"), meta::Path("spec").Child("selector"))) {
    errors.push_back(std::move(error));
  }
  ValidateSessionAffinity(spec);
  for (meta::FieldError& error : ValidateClusterIps(service, old)) errors.push_back(std::move(error));
  ValidateExternalIps(spec, old);
  spec.RequireOneOf("type", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  ValidateUnique(spec);
  ValidateBalancer(spec);
  ValidateTraffic(service, spec);
  return errors;
}

meta::FieldErrors ValidateServiceUpdate(const meta::Object& service, const meta::Object& old) {
  meta::FieldErrors errors;
  const Check spec(ServiceSpec(service), meta::Path("spec"), errors);
  const std::vector<std::string> now = ClusterIps(service), before = ClusterIps(old);
  if (NeedsClusterIp(service) && NeedsClusterIp(old) && !(IsHeadless(service) && IsHeadless(old))) {
    const std::string shown = Shown(meta::FindField(spec.Object(), "clusterIPs"));
    for (std::size_t i = 0; i < before.size() && i < now.size(); ++i) {
      if (now[i] != before[i])
        errors.push_back(meta::Invalid(fmt::format("spec.clusterIPs[{}]", i), shown, "may not change once set"));
    }
    if (now.empty() && !before.empty())
      errors.push_back(meta::Invalid("spec.clusterIPs[0]", shown, "primary clusterIP can not be unset"));
    if (now.size() == 1 && before.size() == 2 && spec.Text("ipFamilyPolicy") != "SingleStack") {
      spec.Invalid("ipFamilyPolicy", "must be set to 'SingleStack' when releasing the secondary clusterIP");
    }
  }
  const meta::json::object& old_spec = ServiceSpec(old);
  if (spec.Text("type") == "LoadBalancer" && meta::FindString(old_spec, "type") == "LoadBalancer" &&
      !meta::Equal(meta::FindField(spec.Object(), "loadBalancerClass"),
                   meta::FindField(old_spec, "loadBalancerClass"))) {
    spec.Invalid("loadBalancerClass", "may not change once set");
  }
  ValidateBalancerClass(spec);  // kube-apiserver checks it twice in updates
  if (NeedsHealthCheckPort(service) && NeedsHealthCheckPort(old) &&
      spec.Number("healthCheckNodePort") !=
          Check(ServiceSpec(old), meta::Path("spec"), errors).Number("healthCheckNodePort")) {
    errors.push_back(meta::Forbidden("spec.healthCheckNodePort", "field is immutable"));
  }
  for (meta::FieldError& error : ValidateService(service, &old)) errors.push_back(std::move(error));
  return errors;
}

meta::FieldErrors ValidateServiceStatus(const meta::Object& service, const meta::Object& old) {
  meta::FieldErrors errors;
  static const meta::json::object none;
  const auto balancer = [](const meta::Object& object) -> const meta::json::object& {
    const meta::json::value* found = meta::Find(object.Root(), "status", "loadBalancer");
    return found && found->is_object() ? found->get_object() : none;
  };
  const Check status(balancer(service), meta::Path("status.loadBalancer"), errors);
  const Checks ingresses = status.Each("ingress");
  if (meta::FindString(ServiceSpec(service), "type") != "LoadBalancer") {
    if (!ingresses.empty()) status.Forbid("ingress", "may only be used when `spec.type` is 'LoadBalancer'");
    return errors;
  }
  std::vector<std::string> before;
  for (const Check& ingress : Check(balancer(old), meta::Path(), errors).Each("ingress"))
    before.emplace_back(ingress.Text("ip"));
  for (const Check& ingress : ingresses) {
    const std::string_view ip = ingress.Text("ip"), hostname = ingress.Text("hostname");
    if (!Contains(before, ip)) ingress.Names("ip", CheckIp);
    if (!ip.empty()) {
      if (!ingress.Has("ipMode")) ingress.Require("ipMode", "must be specified when `ip` is set");
      ingress.OneOf("ipMode", {"Proxy", "VIP"});
    } else {
      ingress.Forbid("ipMode", "may not be specified when `ip` is not set");
    }
    ingress.Names("hostname", meta::CheckDnsSubdomain);
    if (!IpFamilyOf(hostname).empty()) ingress.Invalid("hostname", "must be a DNS name, not an IP address");
  }
  return errors;
}

}  // namespace apimesh::core_api
