#include "services/core-api/groups/discovery/endpointslice/endpointslice.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/walk.h"

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
  // kube-apiserver names the list here, not the address.
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

/// Validates forZones and forNodes: at most 8 names, without duplicates.
bool ValidateHints(const Check& hints, std::string_view field, Check::Rule rule) {
  const Checks all = hints.Each(field);
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
  endpoint.NamesIfPresent("nodeName", meta::CheckDnsSubdomain);
  const json::value* topology = meta::FindField(endpoint.Object(), "deprecatedTopology");
  const meta::Path path = endpoint.Path().Child("deprecatedTopology");
  if (topology && topology->is_object() && topology->get_object().size() > kMaxTopologyLabels) {
    errors.push_back(meta::TooMany(path.ToString(), topology->get_object().size(), kMaxTopologyLabels));
  }
  for (meta::FieldError& error : meta::ValidateLabels(topology, path)) errors.push_back(std::move(error));
  endpoint.NamesIfPresent("hostname", meta::CheckDnsLabel);
  const std::optional<Check> hints = endpoint.Child("hints");
  if (!hints || !ValidateHints(*hints, "forZones", meta::CheckLabelValue)) return;
  ValidateHints(*hints, "forNodes", meta::CheckDnsSubdomain);
}

meta::FieldErrors ValidateEndpoints(const meta::Object& slice) {
  meta::FieldErrors errors;
  const Check root(slice.Root(), meta::Path(), errors);
  const Checks endpoints = root.Each("endpoints");
  if (endpoints.size() > kMaxEndpoints) {
    errors.push_back(meta::TooMany("endpoints", endpoints.size(), kMaxEndpoints));
    return errors;
  }
  for (const Check& endpoint : endpoints) ValidateEndpoint(endpoint, root.Text("addressType"), errors);
  return errors;
}

void ValidatePorts(const Check& root) {
  const Checks ports = root.Each("ports");
  if (ports.size() > kMaxPorts) {
    root.Add(meta::TooMany("ports", ports.size(), kMaxPorts));
    return;
  }
  std::set<std::string_view> names;
  for (const Check& port : ports) {
    const std::string_view name = port.Text("name");
    port.Names("name", meta::CheckDnsLabel);
    if (!names.insert(name).second) port.Add(meta::Duplicate(port.Path().Child("name").ToString(), meta::Quoted(name)));
    if (const std::string_view protocol = port.Text("protocol"); !port.Has("protocol")) {
      port.Require("protocol");
    } else if (protocol != "SCTP" && protocol != "TCP" && protocol != "UDP") {
      port.Add(
          meta::NotSupported(port.Path().Child("protocol").ToString(), meta::Quoted(protocol), {"SCTP", "TCP", "UDP"}));
    }
    port.NamesIfPresent("appProtocol", meta::CheckQualifiedName);
  }
}

meta::FieldErrors ValidateEndpointSlice(const meta::Object& slice, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check root(slice.Root(), meta::Path(), errors);
  root.RequireOneOf("addressType", {"FQDN", "IPv4", "IPv6"});
  ValidatePorts(root);
  meta::FieldErrors found = ValidateEndpoints(slice);
  if (!found.empty() && old) {
    // Unchanged endpoints are accepted without validation, because an older server may have stored them under different
    // rules.
    const json::value* now = meta::FindField(slice.Root(), "endpoints");
    if (meta::Equal(now, meta::FindField(old->Root(), "endpoints"))) found = meta::FieldErrors();
  }
  for (meta::FieldError& error : found) errors.push_back(std::move(error));
  return errors;
}

bool SameField(std::string_view field, const json::object& now, const json::object& before) {
  return meta::Equal(meta::FindField(now, field), meta::FindField(before, field));
}

/// Removes deprecatedTopology from the endpoints, because only the removed version v1beta1 could write it. A node that
/// it names is kept in nodeName, if an endpoint of `old`, which may be nullptr, has the same node there.
void DropTopology(meta::Object& slice, const meta::Object* old) {
  constexpr const char* kHost = "kubernetes.io/hostname";
  static const json::value none;
  const auto endpoints_of = [](const meta::Object& object) -> const json::value* {
    const json::value* list = meta::FindField(object.Root(), "endpoints");
    return list ? list : &none;
  };
  std::set<std::string, std::less<>> known;
  for (const json::object& endpoint : Objects(old ? endpoints_of(*old) : &none))
    known.emplace(meta::FindString(endpoint, "deprecatedTopology", kHost));
  for (json::object& endpoint : Objects(meta::FindField(slice.Root(), "endpoints"))) {
    const std::string_view node = meta::FindString(endpoint, "deprecatedTopology", kHost);
    if (!node.empty() && known.contains(node) && !endpoint.contains("nodeName") &&
        meta::CheckDnsSubdomain(node).empty()) {
      endpoint["nodeName"] = json::string(node);
    }
    meta::EraseField(endpoint, "deprecatedTopology");
  }
}

class EndpointSliceStrategy final : public registry::Strategy {
 public:
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    DropTopology(object, nullptr);
  }
  /// A change of the labels also increments the generation, because they name the Service of the slice.
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    const bool same_endpoints = SameField("endpoints", object.Root(), old.Root());
    if (!same_endpoints || !SameField("labels", object.Metadata(), old.Metadata()))
      object.SetMeta("generation", old.Generation() + 1);
    if (!same_endpoints) DropTopology(object, &old);
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateEndpointSlice(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = ValidateEndpointSlice(object, &old);
    const Check root(object.Root(), meta::Path(), errors);
    const std::string_view before = meta::FindString(old.Root(), "addressType");
    if (root.Text("addressType") != before) root.Invalid("addressType", "field is immutable");
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (!old && meta::FindString(object.Root(), "addressType") == "FQDN")
      warnings.emplace_back("spec.addressType: FQDN endpoints are deprecated");
    // The controllers correct the addresses that they read.
    const std::string_view manager =
        meta::FindString(object.Metadata(), "labels", "endpointslice.kubernetes.io/managed-by");
    if (manager == "endpointslice-controller.k8s.io" || manager == "endpointslicemirroring-controller.k8s.io")
      return warnings;
    meta::FieldErrors unused;
    for (const Check& endpoint : Check(object.Root(), meta::Path(), unused).Each("endpoints")) {
      const json::value* addresses = meta::FindField(endpoint.Object(), "addresses");
      if (!addresses || !addresses->is_array()) continue;
      std::size_t index = 0;
      for (const json::value& address : addresses->get_array()) {
        const meta::Path path = endpoint.Path().Child("addresses").Index(index++);
        if (!address.is_string()) continue;
        for (std::string& warning : IpWarnings(path, address.get_string())) warnings.push_back(std::move(warning));
      }
    }
    return warnings;
  }
};

/// A list in a cell shows its first items and the number of the others.
class FirstItems {
 public:
  void Add(std::string_view item) {
    constexpr std::size_t kShown = 3;
    if (++count_ > kShown) {
      ++hidden_;
      return;
    }
    if (count_ > 1) text_ += ',';
    text_ += item;
  }
  std::string Text() const {
    if (hidden_ > 0) return fmt::format("{} + {} more...", text_, hidden_);
    return text_.empty() ? "<unset>" : text_;
  }

 private:
  std::string text_;
  std::size_t count_ = 0, hidden_ = 0;
};

std::string PortsText(const json::object& slice) {
  FirstItems shown;
  for (const json::object& port : Objects(meta::FindField(slice, "ports"))) {
    if (const json::value* number = meta::FindField(port, "port"); number && number->is_int64()) {
      shown.Add(fmt::format("{}", number->get_int64()));
    } else {
      shown.Add(port.contains("name") ? meta::FindString(port, "name") : "*");
    }
  }
  return shown.Text();
}

std::string AddressesText(const json::object& slice) {
  FirstItems shown;
  for (const json::object& endpoint : Objects(meta::FindField(slice, "endpoints"))) {
    const json::value* addresses = meta::FindField(endpoint, "addresses");
    if (!addresses || !addresses->is_array()) continue;
    for (const json::value& address : addresses->get_array())
      shown.Add(address.is_string() ? std::string_view(address.get_string()) : std::string_view());
  }
  return shown.Text();
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), json::string(meta::FindString(object.Root(), "addressType")),
          PortsText(object.Root()), AddressesText(object.Root()), AgeCell(object, ages)};
}

}  // namespace

registry::Resource EndpointSliceResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("discovery.k8s.io", "v1", "endpointslices", std::make_shared<EndpointSliceStrategy>());
  resource.generation = true;
  resource.table = {{NameColumn(),
                     {.name = "AddressType", .description = "The type of the addresses."},
                     {.name = "Ports", .description = "Ports of the endpoints."},
                     {.name = "Endpoints", .description = "Addresses of the endpoints."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "addressType", "ports", "endpoints.addresses"}};
  return resource;
}

}  // namespace apimesh::core_api
