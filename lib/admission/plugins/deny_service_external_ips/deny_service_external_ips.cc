#include "lib/admission/plugins/deny_service_external_ips/deny_service_external_ips.h"

#include <set>

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

std::set<std::string_view> AddressesOf(const meta::Object& service) {
  std::set<std::string_view> addresses;
  for (const json::value& address : ListAt(SpecOf(service), "externalIPs")) {
    if (address.is_string()) addresses.insert(address.get_string());
  }
  return addresses;
}

class DenyServiceExternalIPs final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.subresource.empty() && IsResource(attributes, "", "services") &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
  }

  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override {
    const std::set<std::string_view> addresses = AddressesOf(*attributes.object);
    std::set<std::string_view> old;
    if (attributes.old_object) old = AddressesOf(*attributes.old_object);
    for (const std::string_view address : addresses) {
      if (!old.contains(address)) co_return Forbidden(attributes, "Use of external IPs is denied by admission control");
    }
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeDenyServiceExternalIPs(const PluginInputs&) {
  return std::make_unique<DenyServiceExternalIPs>();
}

}  // namespace apimesh::admission
