#include <thread>

#include <boost/asio/executor_work_guard.hpp>

#include "lib/admission/plugins/mutating_admission_webhook/mutating_admission_webhook.h"
#include "lib/admission/plugins/validating_admission_webhook/validating_admission_webhook.h"
#include "lib/admission/webhooks/review.h"
#include "lib/admission/webhooks/testing_webhooks.h"

namespace apimesh::admission::webhooks {
namespace {

/// A server with a thread for large requests.
class LargeAnswers : public WebhookTest {
 protected:
  LargeAnswers() { inputs.large_requests = large_.get_executor(); }

  /// Creates an object through the plugin. Returns how many pieces of work the thread for large requests did.
  std::size_t WorkOfCreate(std::unique_ptr<Plugin> plugin) {
    objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
    std::optional guard(boost::asio::make_work_guard(large_));
    std::size_t done = 0;
    std::thread thread([&] { done = large_.run(); });
    result = Create(plugin);
    guard.reset();
    thread.join();
    large_.restart();
    return done;
  }

  Result result;

 private:
  boost::asio::io_context large_{1};
};

TEST_F(LargeAnswers, AreReadOnTheThreadForLargeRequests) {
  const std::string large(100'000, 'x');
  servers->answers["/a.test"] =
      Respond(fmt::format(R"({{"allowed":false,"status":{{"message":"no","reason":"{}"}}}})", large));
  EXPECT_GT(WorkOfCreate(MakeValidatingAdmissionWebhook(inputs)), 0U);
  EXPECT_EQ(result.error, R"(400 admission webhook "a.test" denied the request: no)");
  EXPECT_GT(WorkOfCreate(MakeMutatingAdmissionWebhook(inputs)), 0U);
  EXPECT_EQ(result.error, R"(400 admission webhook "a.test" denied the request: no)");

  servers->answers["/a.test"] = [&large](const FakeServers::Request&) { return Body(large); };
  EXPECT_GT(WorkOfCreate(MakeValidatingAdmissionWebhook(inputs)), 0U);
  EXPECT_NE(result.error, "");
}

TEST_F(LargeAnswers, SmallAnswersStayOnTheThreadOfTheRequest) {
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  EXPECT_EQ(WorkOfCreate(MakeValidatingAdmissionWebhook(inputs)), 0U);
  servers->answers["/a.test"] = Patch(R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])");
  EXPECT_EQ(WorkOfCreate(MakeMutatingAdmissionWebhook(inputs)), 0U);
  EXPECT_EQ(*result.object.Label("a"), "b");
}

TEST_F(LargeAnswers, LargePatchesAreApplied) {
  const std::string large(100'000, 'x');
  servers->answers["/a.test"] =
      Patch(fmt::format(R"([{{"op":"add","path":"/metadata/annotations","value":{{"a":"{}"}}}}])", large));
  const std::size_t read_and_applied = WorkOfCreate(MakeMutatingAdmissionWebhook(inputs));
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(meta::FindString(result.object.Metadata(), "annotations", "a"), large);
  servers->answers["/a.test"] = Respond(fmt::format(R"({{"allowed":true,"status":{{"message":"{}"}}}})", large));
  EXPECT_GT(read_and_applied, WorkOfCreate(MakeMutatingAdmissionWebhook(inputs))) << "without a patch";
}

TEST_F(LargeAnswers, MoreRemarksThanAResponseCanHaveAreNotKept) {
  const std::vector<std::string> warnings(5'000, R"("w")");
  const ReviewResult<ReviewResponse> read =
      ReadReview(fmt::format(R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{{"uid":"u",)"
                             R"("allowed":true,"warnings":[{}]}}}})",
                             fmt::join(warnings, ",")),
                 ReviewVersion::kV1, "u", false);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->warnings.size(), ReviewResponse::kMaxWarnings);
}

}  // namespace
}  // namespace apimesh::admission::webhooks
