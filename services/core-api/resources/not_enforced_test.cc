#include <gmock/gmock.h>

#include <map>

#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Warnings(const registry::Resource& resource, std::string_view metadata) {
  const meta::Object object = testing::Parse(R"({"metadata":)" + std::string(metadata) + "}");
  return resource.strategy->Warnings({}, object, &object);
}

std::map<std::string, registry::Resource> ByName() {
  std::map<std::string, registry::Resource> found;
  for (registry::Resource& resource : AllResources({})) {
    const std::string name = resource.GetGroupResource().ToString();
    found.emplace(name, std::move(resource));
  }
  return found;
}

TEST(NotEnforced, WritesOfControlsWithoutEffectWarn) {
  const std::map<std::string, registry::Resource> resources = ByName();
  for (const char* name : {"validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
                           "validatingadmissionpolicies.admissionregistration.k8s.io", "validatingadmissionpolicybindings.admissionregistration.k8s.io",
                           "mutatingadmissionpolicies.admissionregistration.k8s.io", "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
                           "resourcequotas", "limitranges", "flowschemas.flowcontrol.apiserver.k8s.io",
                           "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"}) {
    EXPECT_THAT(Warnings(resources.at(name), "{}"), ElementsAre(std::string(name) + " are stored but not enforced by this server: they have no effect"));
  }
  EXPECT_THAT(Warnings(resources.at("networkpolicies.networking.k8s.io"), "{}"), IsEmpty());
}

TEST(NotEnforced, LabelsAndAnnotations) {
  const std::map<std::string, registry::Resource> resources = ByName();
  const registry::Resource& namespaces = resources.at("namespaces");
  EXPECT_THAT(Warnings(namespaces, R"({"labels":{"a":"b","pod-security.kubernetes.io/warn":"baseline"}})"), ElementsAre(HasSubstr("pod-security.kubernetes.io labels")));
  EXPECT_THAT(Warnings(namespaces, R"({"labels":{"a":"b"}})"), IsEmpty());
  const registry::Resource& accounts = resources.at("serviceaccounts");
  EXPECT_THAT(Warnings(accounts, R"({"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}})"), ElementsAre(HasSubstr("not enforced")));
  EXPECT_THAT(Warnings(accounts, "{}"), IsEmpty());
}

}  // namespace
}  // namespace apimesh::core_api
