#include <gtest/gtest.h>

#include "services/core-api/groups/networking/ingress/ingress.h"
#include "services/core-api/groups/networking/ingressclass/ingressclass.h"
#include "services/core-api/groups/networking/ipaddress/ipaddress.h"
#include "services/core-api/groups/networking/networkpolicy/networkpolicy.h"
#include "services/core-api/groups/networking/servicecidr/servicecidr.h"
#include "services/core-api/groups/testing_cases.h"
#include "services/core-api/validation/cidr_rules.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

struct CidrCase {
  const char* text;
  const char* want;  // the complaint; empty if there is none
};
const CidrCase kCidrs[] = {
    {"10.0.0.0/8", ""},
    {"fd00::/8", ""},
    {"10.0.0.0", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"},
    {"10.0.0.0/33", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"},
    {"010.0.0.0/8", "must not have leading 0s in IP or prefix length"},
    {"10.0.0.0/08", "must not have leading 0s in IP or prefix length"},
    {"10.0.0.1/8", "must not have bits set beyond the prefix length"},
    {"::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address"},
    {"fd00:0::/8", R"(must be in canonical form ("fd00::/8"))"},
};

TEST(Networking, Cidrs) {
  for (const CidrCase& one : kCidrs) {
    const meta::Complaints complaints = CheckCanonicalCidr(one.text);
    EXPECT_EQ(complaints.empty() ? "" : complaints.front(), one.want) << one.text;
  }
}

const KindCase kCreates[] = {
    {&NetworkPolicyResource,
     R"({"spec":{"podSelector":{},"ingress":[{"ports":[{"port":0}],"from":[{}]}]}})",
     {"spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.ingress[0].from[0]: Required value: must specify a peer"}},
    {&NetworkPolicyResource,
     R"({"spec":{"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.0.0.0/8"]}}]}]}})",
     {R"(spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`)"}},
    {&IngressResource,
     R"({"spec":{}})",
     {"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
    {&IngressResource,
     R"({"spec":{"rules":[{"host":"1.2.3.4","http":{"paths":[{"path":"x","pathType":"Exact"}]}}]}})",
     {R"(spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address)",
      R"(spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path)",
      R"(spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required)"}},
    {&IngressClassResource,
     R"({"spec":{"controller":"x"}})",
     {R"(spec.controller: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo"))"}},
    {&IpAddressResource, R"({"spec":{}})", {"spec.parentRef: Required value"}},
    {&ServiceCidrResource, R"({"spec":{}})", {"spec.cidrs: Required value: at least one CIDR required"}},
};

TEST(Networking, Creates) {
  for (const KindCase& one : kCreates) EXPECT_EQ(CreateErrors(one.kind({}), one.object), one.want) << one.object;
}

TEST(Networking, PolicyTypes) {
  EXPECT_EQ(JsonAt(Defaulted(NetworkPolicyResource({}), R"({"spec":{}})"), "spec", "policyTypes"), R"(["Ingress"])");
  EXPECT_EQ(JsonAt(Defaulted(NetworkPolicyResource({}), R"({"spec":{"egress":[{}]}})"), "spec", "policyTypes"),
            R"(["Ingress","Egress"])");
}

TEST(Networking, ServiceCidrsAreImmutable) {
  const char* old = R"({"spec":{"cidrs":["10.0.0.0/24"]}})";
  EXPECT_EQ(UpdateErrors(ServiceCidrResource({}), old, R"({"spec":{"cidrs":["10.0.0.0/24","fd00::/112"]}})"),
            Strings());
  EXPECT_EQ(UpdateErrors(ServiceCidrResource({}), old, R"({"spec":{"cidrs":["10.0.1.0/24"]}})"),
            Strings{R"(spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable)"});
}

TEST(Networking, Rows) {
  EXPECT_EQ(Row(IngressResource({}),
                R"({"metadata":{"name":"a"},"spec":{"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}],)"
                R"("tls":[{}]},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"h"}]}}})"),
            R"(["a","<none>","a,b,c + 1 more...","1.2.3.4,h","80, 443","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
