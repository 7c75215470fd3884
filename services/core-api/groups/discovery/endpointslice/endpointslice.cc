#include "services/core-api/groups/discovery/endpointslice/endpointslice.h"

#include <fmt/format.h>

#include <set>

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/check.h"
#include "services/core-api/groups/ip_rules.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxEndpoints = 1000, kMaxAddresses = 100, kMaxPorts = 20000;
constexpr std::size_t kMaxHints = 8, kMaxTopologyLabels = 16;

void ValidateAddress(const Check& endpoint, const meta::Path& path, std::string_view type, std::string_view address) {
  const std::string shown = meta::Quoted(address);
  const auto complain = [&endpoint, &shown](const meta::Path& where, std::string complaint) {
    endpoint.Add(meta::Invalid(where.ToString(), shown, std::move(complaint)));
  };
  if (type == "FQDN" && address.empty()) endpoint.Add(meta::Required(path.ToString(), ""));
  if (type == "FQDN" && !address.empty()) {
    for (std::string& complaint : CheckFullyQualifiedDomainName(address)) complain(path, std::move(complaint));
  }
  if (type != "IPv4" && type != "IPv6") return;
  const meta::Complaints complaints = type == "IPv4" ? CheckIp(address) : CheckCanonicalIp(address);
  for (const std::string& complaint : complaints) complain(path, complaint);
  if (!complaints.empty()) return;
  // The reference names the list here, not the address.
  const meta::Path list = endpoint.Path().Child("addresses");
  if (IpFamilyOf(address) != type) complain(list, fmt::format("must be an {} address", type));
  for (std::string& complaint : CheckEndpointIp(address)) complain(path, std::move(complaint));
}

void ValidateAddresses(const Check& endpoint, std::string_view type) {
  const json::value* list = meta::FindField(endpoint.Object(), "addresses");
  static const json::array none;
  const json::array& addresses = list && list->is_array() ? list->get_array() : none;
  const meta::Path path = endpoint.Path().Child("addresses");
  if (addresses.empty()) endpoint.Add(meta::Required(path.ToString(), "must contain at least 1 address"));
  if (addresses.size() > kMaxAddresses) endpoint.Add(meta::TooMany(path.ToString(), addresses.size(), kMaxAddresses));
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].is_string()) ValidateAddress(endpoint, path.Index(i), type, addresses[i].get_string());
  }
}

/// forZones and forNodes: at most 8 names, each of them once.
bool ValidateHints(const Check& hints, std::string_view field, Check::Rule rule) {
  const std::vector<Check> all = hints.Each(field);
  if (all.size() > kMaxHints) {
    hints.Add(meta::TooMany(hints.Path().Child(field).ToString(), all.size(), kMaxHints));
    return false;
  }
  std::set<std::string_view> names;
  for (const Check& hint : all) {
    const std::string_view name = hint.Text("name");
    const std::string path = hint.Path().Child("name").ToString();
    if (!names.insert(name).second) hint.Add(meta::Duplicate(path, meta::Quoted(name)));
    for (std::string& complaint : rule(name)) hint.Add(meta::Invalid(path, meta::Quoted(name), std::move(complaint)));
  }
  return true;
}

void ValidateEndpoint(const Check& endpoint, std::string_view type, meta::FieldErrors& errors) {
  ValidateAddresses(endpoint, type);
  endpoint.Names("nodeName", meta::CheckDnsSubdomain);
  const json::value* topology = meta::FindField(endpoint.Object(), "deprecatedTopology");
  const meta::Path path = endpoint.Path().Child("deprecatedTopology");
  if (topology && topology->is_object() && topology->get_object().size() > kMaxTopologyLabels) {
    errors.push_back(meta::TooMany(path.ToString(), topology->get_object().size(), kMaxTopologyLabels));
  }
  for (meta::FieldError& error : meta::ValidateLabels(topology, path)) errors.push_back(std::move(error));
  endpoint.Names("hostname", meta::CheckDnsLabel);
  const std::optional<Check> hints = endpoint.Child("hints");
  if (!hints || !ValidateHints(*hints, "forZones", meta::CheckLabelValue)) return;
  ValidateHints(*hints, "forNodes", meta::CheckDnsSubdomain);
}

meta::FieldErrors ValidateEndpoints(const meta::Object& slice) {
  meta::FieldErrors errors;
  const Check root(slice.Root(), meta::Path(), errors);
  const std::vector<Check> endpoints = root.Each("endpoints");
  if (endpoints.size() > kMaxEndpoints) {
    errors.push_back(meta::TooMany("endpoints", endpoints.size(), kMaxEndpoints));
    return errors;
  }
  for (const Check& endpoint : endpoints) ValidateEndpoint(endpoint, root.Text("addressType"), errors);
  return errors;
}

void ValidatePorts(const Check& root) {
  const std::vector<Check> ports = root.Each("ports");
  if (ports.size() > kMaxPorts) {
    root.Add(meta::TooMany("ports", ports.size(), kMaxPorts));
    return;
  }
  std::set<std::string_view> names;
  for (const Check& port : ports) {
    const std::string_view name = port.Text("name");
    port.Names("name", meta::CheckDnsLabel);
    if (!names.insert(name).second) port.Add(meta::Duplicate(port.Path().Child("name").ToString(), meta::Quoted(name)));
    port.RequireOneOf("protocol", {"SCTP", "TCP", "UDP"});
    port.Names("appProtocol", meta::CheckQualifiedName);
  }
}

meta::FieldErrors ValidateSlice(const meta::Object& slice, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check root(slice.Root(), meta::Path(), errors);
  root.RequireOneOf("addressType", {"FQDN", "IPv4", "IPv6"});
  ValidatePorts(root);
  meta::FieldErrors found = ValidateEndpoints(slice);
  if (!found.empty() && old) {
    // Endpoints that do not change are accepted as they are: an older server may have stored them under other rules.
    const json::value* now = meta::FindField(slice.Root(), "endpoints");
    const json::value* before = meta::FindField(old->Root(), "endpoints");
    if (now && before && *now == *before) found = meta::FieldErrors();
  }
  for (meta::FieldError& error : found) errors.push_back(std::move(error));
  return errors;
}

class EndpointSliceStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateSlice(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = ValidateSlice(object, &old);
    const Check root(object.Root(), meta::Path(), errors);
    const std::string_view before = meta::FindString(old.Root(), "addressType");
    if (root.Text("addressType") != before) root.Invalid("addressType", "field is immutable");
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    if (old || meta::FindString(object.Root(), "addressType") != "FQDN") return {};
    return {"spec.addressType: FQDN endpoints are deprecated"};
  }
};

}  // namespace

registry::Resource EndpointSliceResource() {
  return FromTable("discovery.k8s.io", "v1", "endpointslices", std::make_shared<EndpointSliceStrategy>());
}

}  // namespace apimesh::core_api
