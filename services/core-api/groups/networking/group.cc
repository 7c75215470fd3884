#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/networking/ingress/ingress.h"
#include "services/core-api/groups/networking/ingressclass/ingressclass.h"
#include "services/core-api/groups/networking/ipaddress/ipaddress.h"
#include "services/core-api/groups/networking/networkpolicy/networkpolicy.h"
#include "services/core-api/groups/networking/servicecidr/servicecidr.h"
#include "services/core-api/resources/other_version.h"

namespace apimesh::core_api {

std::vector<registry::Resource> NetworkingGroup(const KindInputs& inputs) {
  const registry::Resource address = IpAddressResource(inputs), cidr = ServiceCidrResource(inputs);
  return {
      IngressClassResource(inputs),  IngressResource(inputs),    address, NetworkPolicyResource(inputs), cidr,
      InVersion(address, "v1beta1"), InVersion(cidr, "v1beta1"),
  };
}

}  // namespace apimesh::core_api
