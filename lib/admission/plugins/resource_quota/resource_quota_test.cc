#include "lib/admission/plugins/resource_quota/resource_quota.h"

#include <boost/asio/post.hpp>

#include "lib/admission/testing_cluster.h"
#include "lib/base/async/wakeup.h"

namespace apimesh::admission {
namespace {

using ::testing::HasSubstr;

const meta::Gvr kQuotas{"", "v1", "resourcequotas"};

class ResourceQuotas : public ::testing::Test {
 protected:
  void SetUp() override { Make(std::nullopt); }
  void Make(std::optional<std::string> section) {
    PluginInputs inputs = cluster_.Inputs();
    objects_ = inputs.objects;
    inputs.section = std::move(section);
    inputs.send = [this](std::string method, std::string path, std::string body) {
      return Send(std::move(method), std::move(path), std::move(body));
    };
    plugin_ = MakeResourceQuota(inputs);
  }

  void Put(const std::string& name, const std::string& hard, const std::string& used, const std::string& spec = "") {
    cluster_.Put(
        {"", "resourcequotas"}, "ns/" + name,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"ResourceQuota","metadata":{{"name":"{}","namespace":"ns"}},"spec":{{{}}},"status":{{"hard":{{{}}},"used":{{{}}}}}}})",
            name, spec, hard, used));
  }
  std::string Used(const std::string& name) {
    const meta::Result<ObjectPtr> quota =
        testing::RunTask(objects_->Get(meta::RequestContext(), kQuotas, "ns", name, Read::kNewest));
    return boost::json::serialize(*meta::Find((*quota)->Root(), "status", "used"));
  }

  /// Writes the status of a quota as core-api does, with a conflict if it has changed since it was read.
  Task<meta::Result<meta::Object>> Send(std::string method, std::string path, std::string body) {
    ++writes_;
    EXPECT_EQ(method, "PUT");
    const meta::Object sent = Parse(body);
    const std::string name(sent.Name());
    EXPECT_EQ(path, "/api/v1/namespaces/ns/resourcequotas/" + name + "/status");
    co_await SleepFor(std::chrono::milliseconds(1));
    if (before_write_) std::exchange(before_write_, nullptr)();
    if (failure_) co_return *failure_;
    const meta::Result<ObjectPtr> current =
        co_await objects_->Get(meta::RequestContext(), kQuotas, "ns", name, Read::kNewest);
    if (!current) co_return current.error();
    if ((*current)->ResourceVersion() != sent.ResourceVersion())
      co_return meta::Conflict({"", "resourcequotas"}, name, "the object has been modified");
    cluster_.Put({"", "resourcequotas"}, "ns/" + name, body);
    const meta::Result<ObjectPtr> stored =
        co_await objects_->Get(meta::RequestContext(), kQuotas, "ns", name, Read::kNewest);
    co_return **stored;
  }

  std::string Create(const std::string& resource, const std::string& object = R"({"metadata":{"name":"x"}})",
                     bool dry_run = false) {
    return TestCluster::Run(*plugin_, {.resource = resource, .object = object, .dry_run = dry_run}).error;
  }

  /// Creates ConfigMaps concurrently and returns the number of those that were admitted.
  int CreateMany(int count) {
    boost::asio::io_context context{1};
    int admitted = 0, left = count;
    for (int i = 0; i < count; ++i) boost::asio::co_spawn(context, CreateOne(admitted, left, context), Rethrow);
    context.run();
    return admitted;
  }

  TestCluster cluster_;
  ObjectsPtr objects_;
  std::unique_ptr<Plugin> plugin_;
  int writes_ = 0;
  std::function<void()> before_write_;
  std::optional<meta::ApiError> failure_;

 private:
  static void Rethrow(std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  }
  Task<> CreateOne(int& admitted, int& left, boost::asio::io_context& context) {
    meta::Object object = Parse(R"({"metadata":{"name":"c"}})");
    Attributes attributes;
    attributes.resource = {"", "v1", "configmaps"};
    attributes.ns = "ns";
    attributes.object = &object;
    const meta::Result<> result = co_await plugin_->Validate(meta::RequestContext(), attributes);
    if (result) ++admitted;
    if (--left == 0) context.stop();
  }
};

TEST_F(ResourceQuotas, CountWrites) {
  Put("q", R"("configmaps":"2","count/configmaps":"9")", R"("configmaps":"0","count/configmaps":"0")");
  EXPECT_EQ(Create("configmaps"), "");
  EXPECT_EQ(Create("configmaps", R"({"metadata":{"name":"x"}})", true), "");
  EXPECT_EQ(Create("configmaps"), "");
  EXPECT_EQ(Used("q"), R"({"configmaps":"2","count/configmaps":"2"})");
  const std::string error =
      R"(403 configmaps "x" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2)";
  EXPECT_EQ(Create("configmaps"), error);
  EXPECT_EQ(Create("configmaps", R"({"metadata":{"name":"x"}})", true), error);
  EXPECT_EQ(writes_, 2);
}

TEST_F(ResourceQuotas, OtherWritesAreFree) {
  Put("q", R"("configmaps":"0","count/events":"0","count/namespaces":"0")",
      R"("configmaps":"0","count/events":"0","count/namespaces":"0")");
  EXPECT_EQ(Create("events"), "");
  EXPECT_EQ(Create("events.events.k8s.io"), "");
  EXPECT_EQ(Create("namespaces"), "");
  EXPECT_EQ(Create("secrets"), "");
  EXPECT_EQ(Create("pods/binding"), "");
  EXPECT_EQ(Create("configmaps.example.com"), "") << "another group";
  const Write update{.operation = Operation::kUpdate, .resource = "configmaps", .object = "{}", .old_object = "{}"};
  EXPECT_FALSE(TestCluster::Run(*plugin_, update).asked);
  const Write removal{.operation = Operation::kDelete, .resource = "configmaps", .old_object = "{}"};
  EXPECT_FALSE(TestCluster::Run(*plugin_, removal).asked);
  EXPECT_EQ(writes_, 0);
}

TEST_F(ResourceQuotas, ManyWritesCostFewWritesOfTheQuota) {
  Put("q", R"("configmaps":"70")", R"("configmaps":"0")");
  EXPECT_EQ(CreateMany(100), 70);
  EXPECT_EQ(Used("q"), R"({"configmaps":"70"})");
  EXPECT_LE(writes_, 3);
}

TEST_F(ResourceQuotas, AQuotaThatAnotherServerWroteIsReadAgain) {
  Put("q", R"("configmaps":"70")", R"("configmaps":"0")");
  before_write_ = [this] { Put("q", R"("configmaps":"70")", R"("configmaps":"65")"); };
  EXPECT_EQ(CreateMany(10), 5);
  EXPECT_EQ(Used("q"), R"({"configmaps":"70"})");
}

TEST_F(ResourceQuotas, AFailedWriteOfTheQuotaIsAnError) {
  Put("q", R"("configmaps":"70")", R"("configmaps":"0")");
  failure_ = meta::ServiceUnavailable("no etcd");
  EXPECT_EQ(Create("configmaps"), "503 no etcd");
  failure_ = meta::Conflict({"", "resourcequotas"}, "q", "again");
  EXPECT_THAT(Create("configmaps"), HasSubstr("409 "));
}

TEST_F(ResourceQuotas, QuotasThatCannotBeReadAreAnError) {
  cluster_.Forget({"", "resourcequotas"});
  EXPECT_THAT(Create("configmaps"), HasSubstr("500 resourcequotas cannot be read here"));
  plugin_ = MakeResourceQuota({.clock = &cluster_.clock});
  EXPECT_THAT(Create("configmaps"), HasSubstr("500 "));
}

TEST_F(ResourceQuotas, ASubscriptionMakesWritesWithoutQuotasFree) {
  Put("q", R"("configmaps":"1")", R"("configmaps":"0")");
  EXPECT_EQ(Create("secrets"), "") << "subscribes";
  for (int i = 0; i < 20; ++i) cluster_.subscriptions.poll();
  Write write{.resource = "configmaps", .object = R"({"metadata":{"name":"x"}})"};
  EXPECT_TRUE(TestCluster::Run(*plugin_, write).asked);
  EXPECT_THAT(TestCluster::Run(*plugin_, write).error, HasSubstr("exceeded quota")) << "knows its own write";
  write.ns = "other";
  EXPECT_FALSE(TestCluster::Run(*plugin_, write).asked);
}

TEST_F(ResourceQuotas, DevicesOfClaims) {
  cluster_.Put({"resource.k8s.io", "deviceclasses"}, "gpu",
               R"({"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu"}})");
  Put("q",
      R"("count/resourceclaims.resource.k8s.io":"9","gpu.deviceclass.resource.k8s.io/devices":"40","requests.example.com/gpu":"36","requests.deviceclass.resource.kubernetes.io/gpu":"40")",
      R"("count/resourceclaims.resource.k8s.io":"0","gpu.deviceclass.resource.k8s.io/devices":"0","requests.example.com/gpu":"0","requests.deviceclass.resource.kubernetes.io/gpu":"0")");
  const std::string claim = R"({"metadata":{"name":"c"},"spec":{"devices":{"requests":[
      {"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}},
      {"name":"b","firstAvailable":[{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1},
                                    {"deviceClassName":"gpu","allocationMode":"All"}]}]}}})";
  EXPECT_EQ(Create("resourceclaims.resource.k8s.io", claim), "");
  EXPECT_EQ(
      Used("q"),
      R"({"count/resourceclaims.resource.k8s.io":"1","gpu.deviceclass.resource.k8s.io/devices":"34","requests.deviceclass.resource.kubernetes.io/gpu":"34","requests.example.com/gpu":"34"})");
  // The pod of this claim was already charged for two of them.
  cluster_.Put({"", "pods"}, "ns/p", R"({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"containers":[
      {"name":"c","resources":{"requests":{"example.com/gpu":"2","deviceclass.resource.kubernetes.io/gpu":"2"}}}]}})");
  const std::string of_pod = R"({"metadata":{"name":"d","namespace":"ns",
      "annotations":{"resource.kubernetes.io/extended-resource-claim":"true"},
      "ownerReferences":[{"kind":"Pod","apiVersion":"v1","name":"p","uid":"u","controller":true}]},
      "spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":3}}]}}})";
  EXPECT_EQ(Create("resourceclaims.resource.k8s.io", of_pod), "");
  EXPECT_EQ(
      Used("q"),
      R"({"count/resourceclaims.resource.k8s.io":"2","gpu.deviceclass.resource.k8s.io/devices":"37","requests.deviceclass.resource.kubernetes.io/gpu":"35","requests.example.com/gpu":"35"})");
  EXPECT_THAT(Create("resourceclaims.resource.k8s.io", claim),
              HasSubstr("exceeded quota: q, requested: gpu.deviceclass.resource.k8s.io/devices=34,"));
}

TEST_F(ResourceQuotas, LimitedResources) {
  Make(R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration",
           "limitedResources":[{"resource":"configmaps","matchContains":["configmaps"]}]})");
  EXPECT_EQ(Create("configmaps"),
            R"(403 configmaps "x" is forbidden: insufficient quota to consume: configmaps,count/configmaps)");
  EXPECT_EQ(Create("secrets"), "");
  Put("q", R"("configmaps":"1","count/configmaps":"1")", R"("configmaps":"0","count/configmaps":"0")");
  EXPECT_EQ(Create("configmaps"), "");
}

TEST(ResourceQuotaConfiguration, Errors) {
  const auto error = [](const std::string& section) -> std::string {
    TestCluster cluster;
    PluginInputs inputs = cluster.Inputs();
    inputs.section = section;
    try {
      (void)MakeResourceQuota(inputs);
      return "";
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
  };
  const auto v1 = [&error](const std::string& fields) {
    return error(R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration",)" + fields + "}");
  };
  EXPECT_EQ(v1(R"("limitedResources":[])"), "");
  EXPECT_EQ(error("apiVersion: resourcequota.admission.k8s.io/v1beta1\nkind: Configuration\n"), "");
  EXPECT_EQ(error("apiVersion: resourcequota.admission.k8s.io/v1alpha1\nkind: Configuration\n"), "");
  EXPECT_EQ(error("{}"), "Object 'Kind' is missing in '{}'");
  EXPECT_THAT(error("apiVersion: apiserver.config.k8s.io/v1\nkind: Configuration\n"),
              HasSubstr(R"(no kind "Configuration" is registered for version "apiserver.config.k8s.io/v1")"));
  EXPECT_EQ(v1(R"("limitedResources":[{"apiGroup":"apps"},{}])"),
            "[limitedResources[0].resource: Required value, limitedResources[1].resource: Required value]");
  EXPECT_EQ(v1(R"("limitedResources":[{"resource":"pods","x":1,"matchScopes":[{"scope":"a"}]}],"y":2)"),
            R"(strict decoding error: unknown field "limitedResources[0].x", unknown field )"
            R"("limitedResources[0].matchScopes[0].scope", unknown field "y")");
  EXPECT_EQ(v1(R"("limitedResources":"pods")"),
            "json: cannot unmarshal string into Go struct field Configuration.limitedResources of type "
            "[]v1.LimitedResource");
  EXPECT_EQ(v1(R"("limitedResources":[{"resource":5}])"),
            "json: cannot unmarshal number into Go struct field LimitedResource.limitedResources.resource of type "
            "string");
}

}  // namespace
}  // namespace apimesh::admission
