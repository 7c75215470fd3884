#include "services/core-api/groups/core/service/fields.h"

#include <algorithm>
#include <map>
#include <set>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

std::vector<std::string> TextsAt(const meta::Object& service, std::string_view field) {
  std::vector<std::string> texts;
  const json::value* list = meta::FindField(ServiceSpec(service), field);
  if (!list || !list->is_array()) return texts;
  for (const json::value& element : list->get_array()) {
    if (element.is_string()) texts.emplace_back(element.get_string());
  }
  return texts;
}

std::string_view Text(const meta::Object& service, std::string_view field) {
  return meta::FindString(ServiceSpec(service), field);
}

bool Same(const meta::Object& a, const meta::Object& b, std::string_view field) {
  const json::value* one = meta::FindField(ServiceSpec(a), field);
  const json::value* two = meta::FindField(ServiceSpec(b), field);
  return meta::Equal(one, two);
}

std::set<std::int64_t> NodePorts(const meta::Object& service) {
  std::set<std::int64_t> ports;
  for (const json::object& port : Objects(meta::FindField(ServiceSpec(service), "ports"))) {
    if (const std::int64_t number = NumberAt(port, "nodePort")) ports.insert(number);
  }
  return ports;
}

json::object& Spec(meta::Object& service) { return meta::MakeObject(service.Root(), "spec"); }

void SetTexts(meta::Object& service, std::string_view field, const std::vector<std::string>& texts) {
  if (texts.empty()) {
    meta::EraseField(Spec(service), field);
    return;
  }
  json::array& list = Spec(service)[field].emplace_array();
  for (const std::string& text : texts) list.emplace_back(text);
}

}  // namespace

const json::object& ServiceSpec(const meta::Object& service) {
  static const json::object empty;
  const json::value* spec = meta::FindField(service.Root(), "spec");
  return spec && spec->is_object() ? spec->get_object() : empty;
}

std::vector<std::string> ClusterIps(const meta::Object& service) { return TextsAt(service, "clusterIPs"); }

void SetClusterIps(meta::Object& service, const std::vector<std::string>& ips) {
  if (ips.empty()) {
    meta::EraseField(Spec(service), "clusterIP");
  } else {
    Spec(service)["clusterIP"] = ips.front();
  }
  SetTexts(service, "clusterIPs", ips);
}

bool IsHeadless(const meta::Object& service) { return ClusterIps(service) == std::vector<std::string>{"None"}; }

bool NeedsClusterIp(const meta::Object& service) { return Text(service, "type") != "ExternalName"; }

bool NeedsNodePorts(const meta::Object& service) {
  return Text(service, "type") == "NodePort" || Text(service, "type") == "LoadBalancer";
}

bool NeedsHealthCheckPort(const meta::Object& service) {
  return Text(service, "type") == "LoadBalancer" && Text(service, "externalTrafficPolicy") == "Local";
}

bool IsExternallyAccessible(const json::object& spec) {
  const std::string_view type = meta::FindString(spec, "type");
  const json::value* ips = meta::FindField(spec, "externalIPs");
  return type == "LoadBalancer" || type == "NodePort" ||
         (type == "ClusterIP" && ips && ips->is_array() && !ips->get_array().empty());
}

void SyncClusterIps(meta::Object& service, const meta::Object* old) {
  std::vector<std::string> ips = ClusterIps(service);
  const std::string ip(Text(service, "clusterIP"));
  if (!old) {
    // clusterIPs without clusterIP is not corrected here; validation reports it.
    if (!ip.empty() && ips.empty()) SetClusterIps(service, {ip});
    return;
  }
  const std::string_view old_ip = Text(*old, "clusterIP");
  const bool ip_changed = ip != old_ip;
  if (ips.empty() && !ip_changed) {
    // A client that does not know the list has changed something else.
    ips = ClusterIps(*old);
    SetTexts(service, "clusterIPs", ips);
  }
  const bool ips_changed = ips != ClusterIps(*old);
  if (ip.empty() && !old_ip.empty() && !ips_changed) {
    SetTexts(service, "clusterIPs", {});  // clearing clusterIP also clears clusterIPs
  } else if (!ip.empty() && ip_changed && !ips_changed) {
    SetTexts(service, "clusterIPs", {ip});
  }
}

void KeepAllocated(meta::Object& service, const meta::Object& old) {
  if (NeedsClusterIp(old) && NeedsClusterIp(service)) {
    const std::string_view old_ip = Text(old, "clusterIP");
    if (Text(service, "clusterIP").empty() && !old_ip.empty()) Spec(service)["clusterIP"] = old_ip;
    if (ClusterIps(service).empty()) SetTexts(service, "clusterIPs", ClusterIps(old));
  }
  if (NeedsNodePorts(old) && NeedsNodePorts(service)) {
    // A port is known by its name; the client may have changed everything else.
    std::map<std::string_view, std::int64_t> numbers;
    for (const json::object& port : Objects(meta::FindField(ServiceSpec(old), "ports")))
      numbers[meta::FindString(port, "name")] = NumberAt(port, "nodePort");
    const auto used = NodePorts(service);
    for (json::object& port : Objects(meta::FindField(Spec(service), "ports"))) {
      if (NumberAt(port, "nodePort") != 0) continue;
      const auto known = numbers.find(meta::FindString(port, "name"));
      if (known != numbers.end() && known->second != 0 && !used.contains(known->second))
        port["nodePort"] = known->second;
    }
  }
  if (NeedsHealthCheckPort(old) && NeedsHealthCheckPort(service) &&
      NumberAt(ServiceSpec(service), "healthCheckNodePort") == 0) {
    Spec(service)["healthCheckNodePort"] = NumberAt(ServiceSpec(old), "healthCheckNodePort");
  }
}

void DropTypeDependent(meta::Object& service, const meta::Object& old) {
  json::object& spec = Spec(service);
  if (NeedsClusterIp(old) && !NeedsClusterIp(service)) {
    if (Same(service, old, "clusterIP") && Same(service, old, "clusterIPs")) SetClusterIps(service, {});
    for (const char* field : {"ipFamilies", "ipFamilyPolicy"}) {
      if (Same(service, old, field)) meta::EraseField(spec, field);
    }
  }
  if (NeedsNodePorts(old) && !NeedsNodePorts(service)) {
    const std::set<std::int64_t> now = NodePorts(service), before = NodePorts(old);
    if (std::includes(before.begin(), before.end(), now.begin(), now.end())) {
      for (json::object& port : Objects(meta::FindField(spec, "ports"))) meta::EraseField(port, "nodePort");
    }
  }
  if (NeedsHealthCheckPort(old) && !NeedsHealthCheckPort(service) && Same(service, old, "healthCheckNodePort")) {
    meta::EraseField(spec, "healthCheckNodePort");
  }
  if (Text(old, "type") == "LoadBalancer" && Text(service, "type") != "LoadBalancer") {
    for (const char* field : {"allocateLoadBalancerNodePorts", "loadBalancerClass"}) {
      if (Same(service, old, field)) meta::EraseField(spec, field);
    }
  }
  if (IsExternallyAccessible(ServiceSpec(old)) && !IsExternallyAccessible(spec) &&
      Same(service, old, "externalTrafficPolicy")) {
    meta::EraseField(spec, "externalTrafficPolicy");
  }
  if (Text(service, "type") != "LoadBalancer")
    meta::MakeObject(service.Root(), "status")["loadBalancer"].emplace_object();
}

void DropUnusedTrafficPolicy(meta::Object& service) {
  const std::string_view policy = Text(service, "internalTrafficPolicy");
  // Other values stay, so that validation reports them.
  if (Text(service, "type") == "ExternalName" && (policy == "Cluster" || policy == "Local"))
    meta::EraseField(Spec(service), "internalTrafficPolicy");
}

meta::FieldErrors InitFamilies(meta::Object& service, const meta::Object* old,
                               const std::vector<std::string>& families) {
  meta::FieldErrors errors;
  if (!NeedsClusterIp(service)) return errors;
  json::object& spec = Spec(service);
  const json::value* selector = meta::FindField(spec, "selector");
  const bool free_form =
      Text(service, "clusterIP") == "None" && !(selector && selector->is_object() && !selector->get_object().empty());
  if (Text(service, "ipFamilyPolicy").empty()) {
    const std::string before(old ? Text(*old, "ipFamilyPolicy") : "");
    spec["ipFamilyPolicy"] = !before.empty() ? before : free_form ? "RequireDualStack" : "SingleStack";
  }
  const std::string policy(Text(service, "ipFamilyPolicy"));
  const std::string policy_path = "spec.ipFamilyPolicy";
  std::vector<std::string> ips = ClusterIps(service), chosen = TextsAt(service, "ipFamilies");
  if (old && policy == "SingleStack") {
    if (Same(service, *old, "clusterIPs") && ips.size() > 1) ips.resize(1);
    if (Same(service, *old, "ipFamilies") && chosen.size() > 1) chosen.resize(1);
    SetClusterIps(service, ips);
  }
  if (policy == "SingleStack" && ips.size() == 2) {
    errors.push_back(
        meta::Invalid(policy_path, meta::Quoted(policy),
                      "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"));
  }
  if (policy == "SingleStack" && chosen.size() == 2) {
    errors.push_back(
        meta::Invalid(policy_path, meta::Quoted(policy),
                      "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"));
  }
  const auto configured = [&](std::string_view family) {
    return std::find(families.begin(), families.end(), family) != families.end();
  };
  for (std::size_t i = chosen.size(); i < ips.size() && ips[i] != "None"; ++i) {
    const std::string_view family = FamilyOf(ips[i]);
    if (family.empty()) continue;
    if (configured(family)) {
      chosen.emplace_back(family);
    } else {
      errors.push_back(meta::Invalid(fmt::format("spec.clusterIPs[{}]", i),
                                     fmt::format("[\"{}\"]", fmt::join(ips, "\",\"")),
                                     fmt::format("{} is not configured on this cluster", family)));
    }
  }
  if (!errors.empty()) return errors;
  const auto other = [](std::string_view family) { return std::string(family == "IPv4" ? "IPv6" : "IPv4"); };
  if (!free_form) {
    if (policy == "RequireDualStack" && families.size() < 2) {
      errors.push_back(
          meta::Invalid(policy_path, meta::Quoted(policy), "this cluster is not configured for dual-stack services"));
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (configured(chosen[i])) continue;
      errors.push_back(meta::Invalid(fmt::format("spec.ipFamilies[{}]", i), meta::Quoted(chosen[i]),
                                     "not configured on this cluster"));
    }
    if (!errors.empty()) return errors;
  }
  if (chosen.empty()) chosen.push_back(families.front());
  if (policy != "SingleStack" && chosen.size() == 1 && (free_form || families.size() == 2))
    chosen.push_back(other(chosen.front()));
  SetTexts(service, "ipFamilies", chosen);
  return errors;
}

std::string_view FamilyOf(std::string_view ip) {
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(std::string(ip), error);
  return error ? "" : address.is_v4() ? "IPv4" : "IPv6";
}

std::vector<std::int64_t> NodePortsOf(const meta::Object& service) {
  std::set<std::int64_t> ports;
  for (const json::object& port : Objects(meta::FindField(ServiceSpec(service), "ports")))
    ports.insert(NumberAt(port, "nodePort"));
  ports.insert(NumberAt(ServiceSpec(service), "healthCheckNodePort"));
  ports.erase(0);
  return {ports.begin(), ports.end()};
}

}  // namespace apimesh::core_api
