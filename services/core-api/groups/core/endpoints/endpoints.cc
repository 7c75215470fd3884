#include "services/core-api/groups/core/endpoints/endpoints.h"

#include <fmt/format.h>

#include "services/core-api/groups/check.h"
#include "services/core-api/groups/ip_rules.h"
#include "services/core-api/resources/generic.h"

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
  address.Names("nodeName", meta::CheckDnsSubdomain);
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
  port.Names("appProtocol", meta::CheckQualifiedName);
}

meta::FieldErrors ValidateSubsets(const meta::Object& endpoints) {
  meta::FieldErrors errors;
  const Check root(endpoints.Root(), meta::Path(), errors);
  for (const Check& subset : root.Each("subsets")) {
    const std::vector<Check> ready = subset.Each("addresses"), unready = subset.Each("notReadyAddresses");
    const std::vector<Check> ports = subset.Each("ports");
    if (ready.empty() && unready.empty()) {
      subset.Add(meta::Required(subset.Path().ToString(), "must specify `addresses` or `notReadyAddresses`"));
    }
    for (const Check& address : ready) ValidateAddress(address);
    for (const Check& address : unready) ValidateAddress(address);
    for (const Check& port : ports) ValidatePort(port, ports.size() > 1);
  }
  return errors;
}

class EndpointsStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateSubsets(object);
  }
  /// Subsets that do not change are accepted as they are: an older server may have stored them under other rules.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = ValidateSubsets(object);
    if (errors.empty()) return errors;
    const json::value* now = meta::FindField(object.Root(), "subsets");
    const json::value* before = meta::FindField(old.Root(), "subsets");
    if (now && before && *now == *before) return meta::FieldErrors();
    return errors;
  }
  bool AllowCreateOnUpdate() const override { return true; }
};

}  // namespace

registry::Resource EndpointsResource() {
  return FromTable("", "v1", "endpoints", std::make_shared<EndpointsStrategy>());
}

}  // namespace apimesh::core_api
