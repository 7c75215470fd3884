#include "services/aggregator/metrics/mesh_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

mesh::GroupVersionPtr Version(const char* group, const char* version) {
  mesh::GroupVersionDescription description;
  description.group = group;
  description.version = version;
  return std::make_shared<const mesh::GroupVersionDescription>(std::move(description));
}

TEST(DescribeMesh, NamesProcessesAndWhatTheyServe) {
  Routes routes;
  routes.delegates.push_back({"core-api", nullptr, std::nullopt, true, Delegate::Kind::kChain});
  routes.delegates.push_back({"extensions-api", nullptr, std::nullopt, false, Delegate::Kind::kChain});
  routes.delegates.push_back({"apiservices", nullptr, std::nullopt, true, Delegate::Kind::kOwn});
  routes.delegates.push_back({"v1.example.com", nullptr, std::nullopt, true, Delegate::Kind::kExternal});
  routes.by_group_version["apps/v1"] = {0, Version("apps", "v1"), {}};
  routes.by_group_version["widgets.io/v1"] = {1, Version("widgets.io", "v1"), {}};
  routes.by_group_version["apiregistration.k8s.io/v1"] = {2, Version("apiregistration.k8s.io", "v1"), {}};
  const std::string text = DescribeMesh(routes, false);
  for (const char* line :
       {"apimesh_process_up{process=\"aggregator\"} 1\n", "apimesh_process_up{process=\"authn-authz\"} 0\n",
        "apimesh_process_up{process=\"core-api\"} 1\n", "apimesh_process_up{process=\"extensions-api\"} 0\n",
        "apimesh_served_group_version{group=\"apps\",process=\"core-api\",version=\"v1\"} 1\n",
        "{group=\"widgets.io\",process=\"extensions-api\",version=\"v1\"} 1\n",
        "{group=\"apiregistration.k8s.io\",process=\"aggregator\",version=\"v1\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("process_up{process=\"v1.example.com\"}")));
}

}  // namespace
}  // namespace apimesh::aggregator
