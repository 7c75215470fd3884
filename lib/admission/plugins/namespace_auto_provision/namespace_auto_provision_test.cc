#include "lib/admission/plugins/namespace_auto_provision/namespace_auto_provision.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AutoProvision : public ::testing::Test {
 protected:
  AutoProvision() { cluster_.Put({"", "namespaces"}, "ns", R"({"metadata":{"name":"ns"}})"); }
  std::string Run(const std::string& resource, const std::string& ns, bool dry_run = false,
                  Operation operation = Operation::kCreate) {
    PluginInputs inputs = cluster_.Inputs();
    inputs.send = [this](std::string method, std::string path, std::string body) {
      return Send(std::move(method), std::move(path), std::move(body));
    };
    const std::unique_ptr<Plugin> plugin = MakeNamespaceAutoProvision(inputs);
    return TestCluster::Run(*plugin, {.operation = operation,
                                      .resource = resource,
                                      .name = "x",
                                      .object = "{}",
                                      .old_object = operation == Operation::kUpdate ? "{}" : "",
                                      .ns = ns,
                                      .dry_run = dry_run})
        .error;
  }
  Task<meta::Result<meta::Object>> Send(std::string method, std::string path, std::string body) {
    sent_.push_back(fmt::format("{} {} {}", method, path, body));
    co_return answer_;
  }

  TestCluster cluster_;
  meta::Result<meta::Object> answer_ = meta::Object();
  std::vector<std::string> sent_;
};

TEST_F(AutoProvision, CreatesMissingNamespaces) {
  EXPECT_EQ(Run("pods", "new"), "");
  EXPECT_THAT(
      sent_,
      ElementsAre(R"(POST /api/v1/namespaces {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"new"}})"));
  answer_ = meta::AlreadyExists({"", "namespaces"}, "new");
  EXPECT_EQ(Run("foos.example.com", "new"), "") << "another request was faster";
}

TEST_F(AutoProvision, OtherwiseCreatesNothing) {
  EXPECT_EQ(Run("pods", "ns"), "");
  EXPECT_EQ(Run("nodes", ""), "");
  EXPECT_EQ(Run("namespaces", "new"), "");
  EXPECT_EQ(Run("pods", "new", true), "");
  EXPECT_EQ(Run("pods", "new", false, Operation::kUpdate), "");
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(AutoProvision, RefusesTheObjectIfTheNamespaceCannotBeCreated) {
  answer_ = meta::BadRequest("no");
  EXPECT_EQ(Run("pods", "new"), R"(403 pods "x" is forbidden: no)");
  const std::unique_ptr<Plugin> blind = MakeNamespaceAutoProvision({});
  EXPECT_NE(TestCluster::Run(*blind, {.resource = "pods", .object = "{}"}).error, "");
}

}  // namespace
}  // namespace apimesh::admission
