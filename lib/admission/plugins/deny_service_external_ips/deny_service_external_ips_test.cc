#include "lib/admission/plugins/deny_service_external_ips/deny_service_external_ips.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Service(const std::string& addresses) {
  return fmt::format(R"({{"metadata":{{"name":"s"}},"spec":{{"externalIPs":[{}]}}}})", addresses);
}
Write Creates(const std::string& addresses) { return {.resource = "services", .object = Service(addresses)}; }
Write Updates(const std::string& addresses, const std::string& old, const std::string& resource = "services") {
  return {.operation = Operation::kUpdate,
          .resource = resource,
          .name = "s",
          .object = Service(addresses),
          .old_object = Service(old)};
}
const std::string kRefused = R"(403 services "s" is forbidden: Use of external IPs is denied by admission control)";
const std::string kOne = R"("1.1.1.1")", kTwo = R"("2.2.2.2")", kBoth = kOne + "," + kTwo;

class ExternalAddresses : public ::testing::TestWithParam<PluginCase> {};
TEST_P(ExternalAddresses, AreDenied) { Check(*MakeDenyServiceExternalIPs({}), GetParam()); }

const PluginCase kCases[] = {
    {"NoSpec", {.resource = "services", .object = "{}"}, ""},
    {"None", Creates(""), ""},
    {"Unchanged", Updates(kOne, kOne), ""},
    {"Fewer", Updates(kOne, kBoth), ""},
    {"OtherOrder", Updates(kTwo + "," + kOne, kBoth), ""},
    {"Repeated", Updates(kOne + "," + kOne, kOne), ""},
    {"Removed", Updates("", kBoth), ""},
    {"Status", Updates(kOne, "", "services/status"), ""},
    {"OtherGroup", Updates(kOne, "", "services.example.com"), ""},
    {"New", Creates(kOne), kRefused},
    {"TwoNew", Creates(kBoth), kRefused},
    {"Six", Creates(R"("2001:db8::1")"), kRefused},
    {"Added", Updates(kOne, ""), kRefused},
    {"Second", Updates(kBoth, kOne), kRefused},
    {"Replaced", Updates(kTwo, kOne), kRefused},
    {"Empty", Creates(R"("")"), kRefused},
    {"OneOfTwoReplaced", Updates(R"("1.1.1.1","3.3.3.3")", kBoth), kRefused},
};
INSTANTIATE_TEST_SUITE_P(Table, ExternalAddresses, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
