#include "lib/admission/plugins/validating_admission_webhook/validating_admission_webhook.h"

#include "lib/admission/webhooks/bypass.h"
#include "lib/admission/webhooks/testing_webhooks.h"
#include "lib/meta/time.h"

namespace apimesh::admission::webhooks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Code = http::ClientError::Code;

class ValidatingWebhook : public WebhookTest {
 protected:
  std::unique_ptr<Plugin> plugin = MakeValidatingAdmissionWebhook(inputs);
};

TEST_F(ValidatingWebhook, SendsTheReviewOfKubeApiserver) {
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  EXPECT_EQ(Create(plugin).error, "");
  ASSERT_EQ(servers->requests.size(), 1U);
  EXPECT_EQ(servers->requests[0].url, "https://hooks.test/a.test?timeout=5s");
  std::string body = servers->last_body;
  const std::string uid(servers->requests[0].review.at("request").at("uid").as_string());
  body.replace(body.find(uid), uid.size(), "UID");
  EXPECT_EQ(body, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"UID",)"
                  R"("kind":{"group":"apps","version":"v1","kind":"Deployment"},)"
                  R"("resource":{"group":"apps","version":"v1","resource":"deployments"},)"
                  R"("requestKind":{"group":"apps","version":"v1","kind":"Deployment"},)"
                  R"("requestResource":{"group":"apps","version":"v1","resource":"deployments"},)"
                  R"("name":"web","namespace":"ns","operation":"CREATE",)"
                  R"("userInfo":{"username":"jane","uid":"7","groups":["a","b"],"extra":{"k":["v"]}},)"
                  R"("object":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"ns"}},)"
                  R"("oldObject":null,"dryRun":false,"options":null}})"
                  "\n");
}

// controller-runtime's envtest configures "https://host:port//path".
TEST_F(ValidatingWebhook, SendsTheShortestPath) {
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  std::string webhook = WebhookJson("a.test");
  webhook.replace(webhook.find("/a.test"), 7, "//b/.././a.test/");
  objects->Set(ConfigurationJson("c", {webhook}));
  EXPECT_EQ(Create(plugin).error, "");
  ASSERT_EQ(servers->requests.size(), 1U);
  EXPECT_EQ(servers->requests[0].url, "https://hooks.test/a.test?timeout=5s");
}

TEST_F(ValidatingWebhook, ConvertsToTheVersionOfTheRule) {
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  std::string webhook = WebhookJson("a.test");
  webhook.replace(webhook.find(R"("apiVersions":["*"])"), 19, R"("apiVersions":["v1beta1"])");
  objects->Set(ConfigurationJson("c", {webhook}));
  EXPECT_EQ(Create(plugin).error, "");
  ASSERT_EQ(servers->requests.size(), 1U);
  const meta::json::object& request = servers->requests[0].review.at("request").as_object();
  EXPECT_EQ(request.at("kind").at("version"), "v1beta1");
  EXPECT_EQ(request.at("requestKind").at("version"), "v1");
  EXPECT_EQ(request.at("object").at("apiVersion"), "apps/v1beta1");
}

struct AnswerCase {
  std::string test;
  FakeServers::Answer answer;
  std::string error;           // with the failure policy Fail
  bool policy_applies = true;  // whether the failure policy Ignore admits the request
};

std::string Failed(const std::string& why) {
  return "500 Internal error occurred: failed calling webhook \"a.test\": " + why;
}

const AnswerCase kAnswers[] = {
    {"Allowed", Respond(R"({"allowed":true})"), ""},
    {"Denied", Respond(R"({"allowed":false})"),
     R"(400 admission webhook "a.test" denied the request without explanation)", false},
    {"DeniedWithMessage", Respond(R"({"allowed":false,"status":{"message":"no","reason":"Forbidden","code":403}})"),
     R"(403 admission webhook "a.test" denied the request: no)", false},
    {"DeniedWithReason", Respond(R"({"allowed":false,"status":{"reason":"Forbidden"}})"),
     R"(400 admission webhook "a.test" denied the request: Forbidden)", false},
    {"DeniedWithSuccess", Respond(R"({"allowed":false,"status":{"code":200}})"),
     R"(400 admission webhook "a.test" denied the request without explanation)", false},
    {"DeniedWithImpossibleCode", Respond(R"({"allowed":false,"status":{"code":1000}})"),
     R"(500 admission webhook "a.test" denied the request without explanation)", false},
    {"Patch", Patch("[]"),
     Failed("received invalid webhook response: validating webhook may not return response.patch")},
    {"PatchType", Respond(R"({"allowed":true,"patchType":"JSONPatch"})"),
     Failed("received invalid webhook response: validating webhook may not return response.patchType")},
    {"NoResponse", [](const auto&) { return Body(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})"); },
     Failed("received invalid webhook response: webhook response was absent")},
    {"WrongType", Respond(R"({"allowed":"yes"})"),
     Failed("failed to call webhook: json: cannot unmarshal string into Go struct field "
            "AdmissionResponse.response.allowed of type bool")},
    {"Timeout", Fail(Code::kTimeout, "deadline exceeded"),
     Failed("failed to call webhook: Post \"https://hooks.test/a.test?timeout=5s\": context deadline exceeded")},
    {"Closed", Fail(Code::kProtocol, "the server closed the connection"),
     Failed("failed to call webhook: Post \"https://hooks.test/a.test?timeout=5s\": EOF")},
    {"Status",
     [](const auto&) -> http::ClientResult<http::ClientResponse> { return http::ClientResponse{503, {}, ""}; },
     Failed("failed to call webhook: the server is currently unable to handle the request")},
};

TEST_F(ValidatingWebhook, AppliesTheFailurePolicyToFailures) {
  for (const AnswerCase& test : kAnswers) {
    for (const bool ignore : {false, true}) {
      servers->answers["/a.test"] = test.answer;
      objects->Set(ConfigurationJson("c", {WebhookJson("a.test", ignore ? R"(,"failurePolicy":"Ignore")" : "")}));
      // The second occurrence of a key counts.
      const Result result = Create(plugin);
      const bool admitted = test.error.empty() || (ignore && test.policy_applies);
      EXPECT_EQ(result.error, admitted ? "" : test.error) << test.test;
      if (!ignore || test.error.empty() || !test.policy_applies) continue;
      EXPECT_THAT(result.annotations,
                  ElementsAre(Pair("failed-open.validating.webhook.admission.k8s.io/round_0_index_0", "a.test")))
          << test.test;
    }
  }
}

TEST_F(ValidatingWebhook, AnswersMustHaveTheUidAndTheKindOfTheRequest) {
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  servers->answers["/a.test"] = [](const auto&) {
    return Body(
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}})");
  };
  EXPECT_THAT(Create(plugin).error, HasSubstr("received invalid webhook response: expected response.uid="));
  servers->answers["/a.test"] = [](const FakeServers::Request& request) {
    const std::string uid(request.review.at("request").at("uid").as_string());
    return Body(fmt::format(R"({{"response":{{"uid":"{}","allowed":true}}}})", uid));
  };
  EXPECT_THAT(Create(plugin).error,
              HasSubstr("expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="));
  // Servers of v1beta1 need not return either.
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test", R"(,"admissionReviewVersions":["v1beta1"])")}));
  EXPECT_EQ(Create(plugin).error, "");
}

TEST_F(ValidatingWebhook, CallsAllAndReturnsTheFirstRejection) {
  servers->answers["/a.test"] =
      Respond(R"({"allowed":true,"warnings":["careful"],"auditAnnotations":{"why":"because","a/b":"x"}})");
  servers->answers["/b.test"] = Respond(R"({"allowed":false,"status":{"message":"b"}})");
  servers->answers["/c.test"] = Respond(R"({"allowed":false,"status":{"message":"c"},"warnings":["denied"]})");
  objects->Set(ConfigurationJson("z", {WebhookJson("a.test")}));
  objects->Set(ConfigurationJson("y", {WebhookJson("b.test"), WebhookJson("c.test")}));
  const Result result = Create(plugin);
  EXPECT_EQ(result.error, R"(400 admission webhook "b.test" denied the request: b)");
  EXPECT_EQ(servers->requests.size(), 3U);
  EXPECT_THAT(result.warnings, ElementsAre("denied", "careful"));
  EXPECT_THAT(result.annotations, ElementsAre(Pair("a.test/why", "because")));
}

TEST_F(ValidatingWebhook, AuditAnnotationsOfOneAnswerAreLimited) {
  std::string annotations = R"("a":"b")";
  for (int i = 0; i < 20'000; ++i) annotations += fmt::format(R"(,"k{}":"v")", i);
  servers->answers["/a.test"] = Respond(fmt::format(R"({{"allowed":true,"auditAnnotations":{{{}}}}})", annotations));
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  const Result many = Create(plugin);
  EXPECT_EQ(many.error, "");
  EXPECT_EQ(many.annotations.size(), 1000U);
}

TEST_F(ValidatingWebhook, FollowsConfigurations) {
  servers->answers["/a.test"] = Respond(R"({"allowed":false})");
  EXPECT_EQ(Create(plugin).error, "");
  const std::string configuration = ConfigurationJson("c", {WebhookJson("a.test")});
  objects->Set(configuration);
  EXPECT_NE(Create(plugin).error, "");
  objects->Remove(configuration);
  EXPECT_EQ(Create(plugin).error, "");
}

TEST_F(ValidatingWebhook, RejectsWhileConfigurationsAreUnknown) {
  objects->synced = false;
  deadline = meta::RequestDeadline(clock.Steady(), clock);  // the request cannot wait
  EXPECT_EQ(Create(plugin).error, R"(403 deployments.apps "web" is forbidden: not yet ready to handle request)");
  objects->synced = true;
  deadline = {};
  EXPECT_EQ(Create(plugin).error, "");
}

TEST_F(ValidatingWebhook, DryRunsNeedWebhooksWithoutSideEffects) {
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  EXPECT_EQ(Create(plugin, true).error, "");
  EXPECT_EQ(servers->requests.back().review.at("request").at("dryRun"), true);
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test", R"(,"sideEffects":"Some","failurePolicy":"Ignore")")}));
  EXPECT_EQ(Create(plugin, true).error, R"(400 admission webhook "a.test" does not support dry run)");
  EXPECT_EQ(Create(plugin, false).error, "");
}

TEST_F(ValidatingWebhook, CallsOnlyWebhooksWhoseConditionsHold) {
  servers->answers["/a.test"] = Respond(R"({"allowed":false})");
  const auto with = [&](const std::string& expression) {
    objects->Set(ConfigurationJson(
        "c",
        {WebhookJson("a.test", fmt::format(R"(,"matchConditions":[{{"name":"n","expression":"{}"}}])", expression))}));
    return Create(plugin).error;
  };
  EXPECT_NE(with("object.metadata.name == 'web'"), "");
  EXPECT_EQ(with("object.metadata.name == 'db'"), "");
  EXPECT_EQ(with("request.operation == 'DELETE'"), "");
  EXPECT_THAT(with("object.nothing == 'x'"), HasSubstr("403 deployments.apps \"web\" is forbidden"));
}

TEST_F(ValidatingWebhook, WebhooksWithEqualConditionsAreCountedOneByOne) {
  servers->answers["/c.test"] = Respond(R"({"allowed":false})");
  const std::string is_db = R"(,"matchConditions":[{"name":"n","expression":"object.metadata.name == 'db'"}])";
  const std::string fails = R"(,"matchConditions":[{"name":"n","expression":"object.x == 'db'"}])";
  objects->Set(ConfigurationJson(
      "c", {WebhookJson("a.test", is_db), WebhookJson("b.test", is_db),
            WebhookJson("c.test", fails + R"(,"failurePolicy":"Ignore")"),
            WebhookJson("d.test", fails + R"(,"failurePolicy":"Ignore")"),
            WebhookJson("e.test", R"(,"matchConditions":[{"name":"n","expression":"request.name == 'db'"}])"),
            WebhookJson("f.test", R"(,"matchConditions":[{"name":"n","expression":"request.name == 'db'"}])")}));
  EXPECT_EQ(Create(plugin).error, "");
  EXPECT_THAT(servers->requests, IsEmpty());
  const std::string text = metrics.Text();
  for (const char* name : {"a.test", "b.test", "c.test", "d.test", "e.test", "f.test"}) {
    const std::string labels = fmt::format(R"({{kind="webhook",name="{}",operation="CREATE",type="validate"}})", name);
    EXPECT_THAT(text, HasSubstr("apiserver_admission_match_condition_exclusions_total" + labels + " 1\n"));
    EXPECT_THAT(text, HasSubstr("apiserver_admission_match_condition_evaluation_seconds_count" + labels + " 1\n"));
    const bool error = std::string_view(name) == "c.test" || std::string_view(name) == "d.test";
    EXPECT_EQ(text.find("evaluation_errors_total" + labels + " 1\n") != std::string::npos, error) << name;
  }
}

TEST_F(ValidatingWebhook, CallsFailAtOnceAfterSeveralTimeouts) {
  servers->answers["/a.test"] = [this](const auto&) -> http::ClientResult<http::ClientResponse> {
    clock.Advance(std::chrono::seconds(5));
    return http::ClientError{Code::kTimeout, "deadline exceeded"};
  };
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  const std::string error = Create(plugin).error;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Create(plugin).error, error);
  EXPECT_EQ(servers->requests.size(), 3U);
  clock.Advance(std::chrono::seconds(1));
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  EXPECT_EQ(Create(plugin).error, "");
  EXPECT_EQ(Create(plugin).error, "");
  EXPECT_EQ(servers->requests.size(), 5U);
}

TEST_F(ValidatingWebhook, AnAdministratorCanSuspendTheFailurePolicy) {
  const auto until = [&](std::chrono::seconds from_now) {
    const std::string time = meta::FormatTime(clock.Now() + from_now);
    objects->Set(
        ConfigurationJson("c", {WebhookJson("a.test")}, fmt::format(R"({{"{}":"{}"}})", kBypassAnnotation, time)));
    return Create(plugin);
  };
  const Result bypassed = until(std::chrono::minutes(10));
  EXPECT_EQ(bypassed.error, "");
  EXPECT_THAT(bypassed.annotations,
              ElementsAre(Pair("bypassed.webhook.admission.apimesh.io/round_0_index_0", "a.test")));
  EXPECT_NE(until(std::chrono::seconds(-1)).error, "") << "it has expired";
  EXPECT_NE(until(std::chrono::hours(25)).error, "") << "it would last too long";
  servers->answers["/a.test"] = Respond(R"({"allowed":false})");
  EXPECT_NE(until(std::chrono::minutes(10)).error, "") << "a webhook that works still rejects";
}

TEST_F(ValidatingWebhook, ReportsMetrics) {
  servers->answers["/a.test"] = Respond(R"({"allowed":false,"status":{"code":403}})");
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test"), WebhookJson("b.test", R"(,"failurePolicy":"Ignore")")}));
  (void)Create(plugin);
  clock.Advance(std::chrono::minutes(1));
  const std::string text = metrics.Text();
  for (
      const char* line :
      {R"(apiserver_admission_webhook_rejection_count{error_type="no_error",name="a.test",operation="CREATE",rejection_code="403",type="validating"} 1)",
       R"(apiserver_admission_webhook_request_total{code="403",name="a.test",operation="CREATE",rejected="true",type="validating"} 1)",
       R"(apiserver_admission_webhook_request_total{code="503",name="b.test",operation="CREATE",rejected="false",type="validating"} 1)",
       R"(apiserver_admission_webhook_fail_open_count{name="b.test",type="validating"} 1)",
       R"(apimesh_admission_webhook_failing_seconds{configuration="c",failure_policy="Ignore",name="b.test",type="validating"} 60)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(ValidatingWebhook, ConfigurationsOfAdmissionAreNotReviewed) {
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  Attributes attributes;
  attributes.resource = {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"};
  attributes.kind = {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"};
  EXPECT_FALSE(plugin->Handles(Phase::kValidate, attributes));
}

}  // namespace
}  // namespace apimesh::admission::webhooks
