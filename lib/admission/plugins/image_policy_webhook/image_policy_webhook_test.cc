#include "lib/admission/plugins/image_policy_webhook/image_policy_webhook.h"

#include <fstream>

#include "lib/admission/plugins/image_policy_webhook/settings.h"
#include "lib/admission/webhooks/testing_webhooks.h"
#include "lib/testing/temp_path.h"

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using webhooks::FakeServers;

class ImagePolicy : public ::testing::Test {
 protected:
  std::unique_ptr<Plugin> Make(const std::string& settings) {
    const std::string path = testing::TempPath("image-policy-kubeconfig");
    std::ofstream(path) << R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],)"
                        << R"("clusters":[{"name":"k","cluster":{"server":"https://images.test/policy"}}],)"
                        << R"("users":[{"name":"u","user":{"token":"secret"}}]})";
    PluginInputs inputs = cluster.Inputs();
    inputs.http_client = [this](http::ClientOptions) { return servers; };
    inputs.section = fmt::format(R"({{"imagePolicy":{{"kubeConfigFile":"{}"{}}}}})", path, settings);
    return MakeImagePolicyWebhook(inputs);
  }
  static Write Pod(const std::string& image = "a") {
    Write write;
    write.resource = "pods";
    write.name = "p";
    write.object = fmt::format(
        R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p","annotations":{{"x.image-policy.k8s.io/break":"yes","other":"no"}}}},)"
        R"("spec":{{"containers":[{{"image":"{}"}}],"initContainers":[{{"image":"i"}}]}}}})",
        image);
    return write;
  }

  TestCluster cluster;
  std::shared_ptr<FakeServers> servers = std::make_shared<FakeServers>();
};

FakeServers::Answer Status(const std::string& status) {
  return [status](const FakeServers::Request&) {
    return webhooks::Body(
        fmt::format(R"({{"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","status":{}}})", status));
  };
}

TEST_F(ImagePolicy, SendsImagesAndAnnotations) {
  servers->answers["/policy"] = Status(R"({"allowed":true,"auditAnnotations":{"why":"good"}})");
  const std::unique_ptr<Plugin> plugin = Make("");
  const Outcome outcome = TestCluster::Run(*plugin, Pod());
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(servers->last_body,
            R"({"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","metadata":{},"spec":{"containers":)"
            R"([{"image":"a"},{"image":"i"}],"annotations":{"x.image-policy.k8s.io/break":"yes"},"namespace":"ns"},)"
            R"("status":{"allowed":false}})"
            "\n");
  EXPECT_THAT(servers->requests[0].headers, ::testing::Contains(Pair("authorization", "Bearer secret")));
  EXPECT_THAT(outcome.annotations, ElementsAre(Pair("imagepolicywebhook.image-policy.k8s.io/why", "good")));
}

TEST_F(ImagePolicy, CachesAnswers) {
  servers->answers["/policy"] = Status(R"({"allowed":true})");
  const std::unique_ptr<Plugin> plugin = Make(R"(,"allowTTL":10)");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TestCluster::Run(*plugin, Pod()).error, "");
  EXPECT_EQ(servers->requests.size(), 1U);
  EXPECT_EQ(TestCluster::Run(*plugin, Pod("b")).error, "");
  EXPECT_EQ(servers->requests.size(), 2U);
  cluster.clock.Advance(std::chrono::seconds(11));
  EXPECT_EQ(TestCluster::Run(*plugin, Pod()).error, "");
  EXPECT_EQ(servers->requests.size(), 3U);
}

TEST_F(ImagePolicy, LimitsItsCacheByBytes) {
  // 4 MiB for 100 answers of this size, and what each of them needs besides its reason.
  servers->answers["/policy"] = Status(fmt::format(R"({{"allowed":true,"reason":"{}"}})", std::string(41'943, 'r')));
  const std::unique_ptr<Plugin> plugin = Make(R"(,"allowTTL":1000)");
  for (int i = 0; i < 200; ++i) TestCluster::Run(*plugin, Pod(fmt::format("i{}", i)));
  EXPECT_EQ(servers->requests.size(), 200U);
  for (int i = 199; i > 119; --i) TestCluster::Run(*plugin, Pod(fmt::format("i{}", i)));
  EXPECT_EQ(servers->requests.size(), 200U) << "the newest answers are kept";
  for (int i = 0; i < 100; ++i) TestCluster::Run(*plugin, Pod(fmt::format("i{}", i)));
  EXPECT_EQ(servers->requests.size(), 300U) << "the oldest answers were dropped";
}

TEST_F(ImagePolicy, Rejects) {
  servers->answers["/policy"] = Status(R"({"allowed":false,"reason":"old"})");
  EXPECT_EQ(TestCluster::Run(*Make(""), Pod()).error,
            R"(403 pods "p" is forbidden: image policy webhook backend denied one or more images: old)");
  servers->answers["/policy"] = Status("{}");
  EXPECT_EQ(TestCluster::Run(*Make(""), Pod()).error,
            R"(403 pods "p" is forbidden: one or more images rejected by webhook backend)");
}

TEST_F(ImagePolicy, FailuresAreDecidedByTheConfiguration) {
  servers->answers["/policy"] = webhooks::Fail(http::ClientError::Code::kProtocol, "closed");
  EXPECT_EQ(TestCluster::Run(*Make(""), Pod()).error,
            R"(403 pods "p" is forbidden: Post "https://images.test/policy?timeout=30s": EOF)");
  const Outcome open = TestCluster::Run(*Make(R"(,"defaultAllow":true)"), Pod());
  EXPECT_EQ(open.error, "");
  EXPECT_EQ(open.object.Annotation("alpha.image-policy.k8s.io/failed-open"), nullptr) << "the pod is not changed";
  EXPECT_THAT(open.annotations, ElementsAre(Pair("imagepolicywebhook.image-policy.k8s.io/failed-open", "true")));
}

TEST_F(ImagePolicy, OnlyPodsAndTheirEphemeralContainers) {
  const std::unique_ptr<Plugin> plugin = Make("");
  Write write = Pod();
  write.resource = "pods/status";
  EXPECT_FALSE(TestCluster::Run(*plugin, write).asked);
  write.resource = "configmaps";
  EXPECT_FALSE(TestCluster::Run(*plugin, write).asked);
  write.resource = "pods/ephemeralcontainers";
  write.operation = Operation::kUpdate;
  EXPECT_TRUE(TestCluster::Run(*plugin, write).asked);
}

struct SettingsCase {
  std::string settings, error;
};

TEST(ImagePolicySettings, AreChecked) {
  const SettingsCase cases[] = {
      {R"("allowTTL":1)", ""},
      {R"("allowTTL":-1)", ""},
      {R"("allowTTL":3600)", "valid value is between 1s and 30m0s, got 1h0m0s"},
      {R"("denyTTL":-5)", "valid value is between 1s and 30m0s, got -5s"},
      {R"("retryBackoff":600000)", "valid value is between 1ns and 5m0s, got 10m0s"},
      {R"("retryBackoff":99999999)", "valid value is between 1ns and 5m0s, got 27h46m39.999s"}};
  for (const SettingsCase& test : cases) {
    std::string error;
    try {
      (void)image_policy::ReadSettings(fmt::format("{{\"imagePolicy\":{{{}}}}}", test.settings));
    } catch (const std::invalid_argument& refused) {
      error = refused.what();
    }
    EXPECT_EQ(error, test.error) << test.settings;
  }
  EXPECT_THROW((void)image_policy::ReadSettings(std::nullopt), std::invalid_argument);
}

}  // namespace
}  // namespace apimesh::admission
