#include "services/core-api/groups/core/endpoints/endpoints.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void ValidateAddress(const Check& address) {
  const std::string_view ip = address.Text("ip");
  const auto complain = [&address, ip](std::string complaint) {
    address.Add(meta::Invalid(address.Path().Child("ip").ToString(), meta::Quoted(ip), std::move(complaint)));
  };
  for (std::string& complaint : CheckIp(ip)) complain(std::move(complaint));
  address.Names("hostname", meta::CheckDnsLabel);
  address.NamesIfPresent("nodeName", meta::CheckDnsSubdomain);
  for (std::string& complaint : CheckEndpointIp(ip)) complain(std::move(complaint));
}

void ValidatePort(const Check& port, bool needs_name) {
  if (needs_name) {
    port.RequireName("name", meta::CheckDnsLabel);
  } else {
    port.Names("name", meta::CheckDnsLabel);
  }
  const std::int64_t number = port.Number("port").value_or(0);
  for (std::string& complaint : meta::CheckPortNumber(number)) {
    port.Add(meta::Invalid(port.Path().Child("port").ToString(), fmt::format("{}", number), std::move(complaint)));
  }
  port.RequireOneOf("protocol", {"SCTP", "TCP", "UDP"});
  port.NamesIfPresent("appProtocol", meta::CheckQualifiedName);
}

meta::FieldErrors ValidateSubsets(const meta::Object& endpoints) {
  meta::FieldErrors errors;
  const Check root(endpoints.Root(), meta::Path(), errors);
  for (const Check& subset : root.Each("subsets")) {
    const Checks ready = subset.Each("addresses"), unready = subset.Each("notReadyAddresses");
    const Checks ports = subset.Each("ports");
    if (ready.empty() && unready.empty()) {
      subset.Add(meta::Required(subset.Path().ToString(), "must specify `addresses` or `notReadyAddresses`"));
    }
    for (const Check& address : ready) ValidateAddress(address);
    for (const Check& address : unready) ValidateAddress(address);
    const bool many = ports.size() > 1;
    for (const Check& port : ports) ValidatePort(port, many);
  }
  return errors;
}

class EndpointsStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateSubsets(object);
  }
  /// Unchanged subsets are accepted without validation, because an older server may have stored them under different
  /// rules.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = ValidateSubsets(object);
    if (errors.empty()) return errors;
    const json::value* now = meta::FindField(object.Root(), "subsets");
    const json::value* before = meta::FindField(old.Root(), "subsets");
    if (now && before && meta::Equal(*now, *before)) return meta::FieldErrors();
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    // The addresses of the endpoints controller come from pods and cannot be changed by the user.
    if (meta::FindString(object.Metadata(), "labels", "endpoints.kubernetes.io/managed-by") == "endpoint-controller")
      return {};
    std::vector<std::string> warnings;
    meta::FieldErrors ignored;
    for (const Check& subset : Check(object.Root(), meta::Path(), ignored).Each("subsets")) {
      for (const char* list : {"addresses", "notReadyAddresses"}) {
        for (const Check& address : subset.Each(list)) {
          for (std::string& warning : IpWarnings(address.Path().Child("ip"), address.Text("ip")))
            warnings.push_back(std::move(warning));
        }
      }
    }
    return warnings;
  }
  bool AllowCreateOnUpdate() const override { return true; }
};

/// Returns at most three addresses with their ports.
std::string Addresses(const meta::Object& object) {
  constexpr std::size_t kMax = 3;
  const auto subsets = Objects(meta::FindField(object.Root(), "subsets"));
  if (subsets.empty()) return "<none>";
  std::vector<std::string> shown;
  std::size_t count = 0;
  for (const json::object& subset : subsets) {
    const auto addresses = Objects(meta::FindField(subset, "addresses"));
    const auto ports = Objects(meta::FindField(subset, "ports"));
    for (std::size_t p = 0; p < std::max<std::size_t>(ports.size(), 1); ++p) {
      count += addresses.size();
      for (std::size_t a = 0; a < addresses.size() && shown.size() < kMax; ++a) {
        const std::string_view ip = meta::FindString(addresses[a].get(), "ip");
        const bool brackets = !ports.empty() && ip.find(':') != std::string_view::npos;
        shown.push_back(brackets ? fmt::format("[{}]", ip) : std::string(ip));
        if (!ports.empty()) shown.back() += fmt::format(":{}", NumberAt(ports[p].get(), "port"));
      }
    }
  }
  const std::string joined = fmt::format("{}", fmt::join(shown, ","));
  return count > kMax ? fmt::format("{} + {} more...", joined, count - kMax) : joined;
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), Addresses(object), AgeCell(object, ages)};
}

}  // namespace

registry::Resource EndpointsResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "endpoints", std::make_shared<EndpointsStrategy>());
  resource.table = {{NameColumn(), {.name = "Endpoints", .description = "Addresses and ports."}, AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "subsets"}};
  return resource;
}

}  // namespace apimesh::core_api
