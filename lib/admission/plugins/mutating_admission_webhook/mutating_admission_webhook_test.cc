#include "lib/admission/plugins/mutating_admission_webhook/mutating_admission_webhook.h"

#include "lib/admission/webhooks/testing_webhooks.h"

namespace apimesh::admission::webhooks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class MutatingWebhook : public WebhookTest {
 protected:
  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const FakeServers::Request& request : servers->requests) {
      const std::size_t slash = request.url.rfind('/');
      paths.push_back(request.url.substr(slash + 1, request.url.find('?') - slash - 1));
    }
    return paths;
  }
  std::unique_ptr<Plugin> plugin = MakeMutatingAdmissionWebhook(inputs);
};

constexpr const char* kAddLabel = R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])";

TEST_F(MutatingWebhook, AppliesPatchesInOrder) {
  servers->answers["/a.test"] = Patch(kAddLabel);
  servers->answers["/b.test"] = Patch(R"([{"value":"d","op":"add","path":"/metadata/labels/c"}])");
  objects->Set(ConfigurationJson("y", {WebhookJson("b.test")}));
  objects->Set(ConfigurationJson("x", {WebhookJson("a.test")}));
  const Result result = Create(plugin);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(*result.object.Label("a"), "b");
  EXPECT_EQ(*result.object.Label("c"), "d");
  EXPECT_THAT(result.annotations,
              ElementsAre(Pair("mutation.webhook.admission.k8s.io/round_0_index_0",
                               R"({"configuration":"x","webhook":"a.test","mutated":true})"),
                          Pair("mutation.webhook.admission.k8s.io/round_0_index_1",
                               R"({"configuration":"y","webhook":"b.test","mutated":true})"),
                          Pair("patch.webhook.admission.k8s.io/round_0_index_0",
                               R"({"configuration":"x","webhook":"a.test","patch":[{"op":"add",)"
                               R"("path":"/metadata/labels","value":{"a":"b"}}],"patchType":"JSONPatch"})"),
                          Pair("patch.webhook.admission.k8s.io/round_0_index_1",
                               R"({"configuration":"y","webhook":"b.test","patch":[{"op":"add",)"
                               R"("path":"/metadata/labels/c","value":"d"}],"patchType":"JSONPatch"})")));
}

TEST_F(MutatingWebhook, LaterWebhooksAreChosenForTheObjectAsItIsThen) {
  servers->answers["/a.test"] = Patch(kAddLabel);
  for (const char* name : {"/b.test", "/c.test", "/d.test", "/e.test"})
    servers->answers[name] = Respond(R"({"allowed":true})");
  const std::string selected = R"(,"objectSelector":{"matchLabels":{"a":"b"}})";
  const std::string labelled = R"j(,"matchConditions":[{"name":"n","expression":"has(object.metadata.labels)"}])j";
  const std::string bare = R"j(,"matchConditions":[{"name":"n","expression":"!has(object.metadata.labels)"}])j";
  objects->Set(
      ConfigurationJson("c", {WebhookJson("0.test", labelled), WebhookJson("00.test", selected),
                              WebhookJson("a.test", bare), WebhookJson("b.test", selected),
                              WebhookJson("c.test", labelled), WebhookJson("d.test", bare), WebhookJson("e.test")}));
  const Result result = Create(plugin);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(Paths(), ElementsAre("a.test", "b.test", "c.test", "e.test"));
}

TEST_F(MutatingWebhook, RejectsWhileConfigurationsAreUnknown) {
  objects->synced = false;
  deadline = meta::RequestDeadline(clock.Steady(), clock);  // the request cannot wait
  EXPECT_EQ(Create(plugin).error, R"(403 deployments.apps "web" is forbidden: not yet ready to handle request)");
  objects->synced = true;
  deadline = {};
  EXPECT_EQ(Create(plugin).error, "");
}

TEST_F(MutatingWebhook, RequestsWaitForConfigurations) {
  servers->answers["/a.test"] = Patch(kAddLabel);
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test")}));
  objects->checks_until_synced = 3;
  const Result result = Create(plugin);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(*result.object.Label("a"), "b") << "the webhook is called once the configurations are known";
}

TEST_F(MutatingWebhook, ConvertsThePatchedObjectBack) {
  servers->answers["/a.test"] = Patch(kAddLabel);
  std::string webhook = WebhookJson("a.test");
  webhook.replace(webhook.find(R"("apiVersions":["*"])"), 19, R"("apiVersions":["v1beta1"])");
  objects->Set(ConfigurationJson("c", {webhook}));
  const Result result = Create(plugin);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.object.ApiVersion(), "apps/v1");
  EXPECT_EQ(*result.object.Label("a"), "b");
}

struct PatchCase {
  std::string test;
  FakeServers::Answer answer;
  std::string error;
  bool policy_applies;
};

std::string Failed(const std::string& why) {
  return "500 Internal error occurred: failed calling webhook \"a.test\": " + why;
}

const PatchCase kPatches[] = {
    {"NoType", Respond(fmt::format(R"({{"allowed":true,"patch":"{}"}})", EncodeBase64(kAddLabel))),
     Failed("received invalid webhook response: webhook returned response.patch but not response.patchType"), true},
    {"NoPatch", Respond(R"({"allowed":true,"patchType":"JSONPatch"})"),
     Failed("received invalid webhook response: webhook returned response.patchType but not response.patch"), true},
    {"EmptyType", Respond(fmt::format(R"({{"allowed":true,"patchType":"","patch":"{}"}})", EncodeBase64(kAddLabel))),
     Failed("received invalid webhook response: webhook returned invalid response.patchType of \"\""), true},
    {"OtherType",
     Respond(fmt::format(R"({{"allowed":true,"patchType":"Merge","patch":"{}"}})", EncodeBase64(kAddLabel))),
     Failed("unsupported patch type \"Merge\""), true},
    {"NotAList", Patch(R"({"op":"add"})"),
     Failed("received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type "
            "jsonpatch.Patch"),
     true},
    {"NotBase64", Respond(R"({"allowed":true,"patchType":"JSONPatch","patch":"#"})"),
     Failed("failed to call webhook: illegal base64 data at input byte 0"), true},
    {"DoesNotApply", Patch(R"([{"op":"replace","path":"/spec/x","value":1}])"),
     "500 Internal error occurred: replace operation does not apply: doc is missing path: /spec/x: missing value",
     false},
    {"Empty", Patch("[]"), "", true},
};

TEST_F(MutatingWebhook, ChecksPatches) {
  for (const PatchCase& test : kPatches) {
    for (const bool ignore : {false, true}) {
      servers->answers["/a.test"] = test.answer;
      objects->Set(ConfigurationJson("c", {WebhookJson("a.test", ignore ? R"(,"failurePolicy":"Ignore")" : "")}));
      EXPECT_EQ(Create(plugin).error, ignore && test.policy_applies ? "" : test.error) << test.test;
    }
  }
}

TEST_F(MutatingWebhook, CallsAgainIfALaterWebhookChangesTheObject) {
  servers->answers["/a.test"] = Respond(R"({"allowed":true})");
  servers->answers["/b.test"] = Patch(kAddLabel);
  servers->answers["/c.test"] = Respond(R"({"allowed":true})");
  objects->Set(
      ConfigurationJson("c", {WebhookJson("a.test", R"(,"reinvocationPolicy":"IfNeeded")"), WebhookJson("b.test"),
                              WebhookJson("c.test", R"(,"reinvocationPolicy":"IfNeeded")")}));
  EXPECT_EQ(Create(plugin).error, "");
  EXPECT_THAT(Paths(), ElementsAre("a.test", "b.test", "c.test", "a.test"));
  EXPECT_EQ(servers->requests.back().review.at("request").at("object").at("metadata").at("labels").at("a"), "b");
}

TEST_F(MutatingWebhook, DoesNotCallAgainIfNothingChanges) {
  for (const char* name : {"/a.test", "/b.test"}) servers->answers[name] = Respond(R"({"allowed":true})");
  objects->Set(
      ConfigurationJson("c", {WebhookJson("a.test", R"(,"reinvocationPolicy":"IfNeeded")"), WebhookJson("b.test")}));
  EXPECT_EQ(Create(plugin).error, "");
  EXPECT_THAT(Paths(), ElementsAre("a.test", "b.test"));
}

/// A plugin of the server that changes the object once a webhook has changed it.
class Follower final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes&) const override { return phase == Phase::kMutate; }
  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    ++calls;
    if (attributes.object->Label("a")) attributes.object->SetMeta("generateName", "x-");
    co_return meta::Result<>();
  }
  int calls = 0;
};

TEST_F(MutatingWebhook, PluginsOfTheServerRunAgainAfterAChange) {
  servers->answers["/a.test"] = Patch(kAddLabel);
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test", R"(,"reinvocationPolicy":"IfNeeded")")}));
  Follower follower;
  const Result result = CreateThrough({&follower, plugin.get()});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(follower.calls, 2);
  EXPECT_EQ(result.object.GenerateName(), "x-");
  EXPECT_THAT(Paths(), ElementsAre("a.test", "a.test")) << "the object has changed after its call";
}

TEST_F(MutatingWebhook, DeletionsCannotBePatched) {
  servers->answers["/a.test"] = Patch(kAddLabel);
  objects->Set(ConfigurationJson("c", {WebhookJson("a.test", R"(,"failurePolicy":"Ignore")")}));
  const meta::Object old = Parse(R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"}})");
  Attributes attributes;
  attributes.operation = Operation::kDelete;
  attributes.kind = {"apps", "v1", "Deployment"};
  attributes.resource = {"apps", "v1", "deployments"};
  attributes.old_object = &old;
  attributes.versions = &versions;
  const meta::Result<> result = testing::RunTask(plugin->Mutate({}, attributes));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().Message(),
            "Internal error occurred: admission webhook \"a.test\" attempted to modify the object, which is not "
            "supported for this operation");
}

}  // namespace
}  // namespace apimesh::admission::webhooks
