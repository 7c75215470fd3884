#include <gmock/gmock.h>

#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

using admission::Attributes;
using ::testing::ElementsAre;

/// Describes one call of admission in one line.
std::string Line(std::string_view phase, const meta::RequestContext& ctx, const Attributes& a) {
  const auto name_of = [](const meta::Object* object) {
    return object ? fmt::format("{}/{}", object->Kind(), object->Name()) : "-";
  };
  const std::string options = a.options ? std::string(meta::FindString(*a.options, "kind")) : "-";
  return fmt::format("{} {} {} {}.{}/{} {}/{} object={} old={} {}{} by {}", phase, ToString(a.operation),
                     a.kind.ToString(), a.resource.resource, a.resource.group, a.subresource, a.ns, a.name,
                     name_of(a.object), name_of(a.old_object), options, a.dry_run ? " dry-run" : "", ctx.User().name);
}

/// Records every call and rejects the object named `refuses`.
class Recorder final : public admission::Plugin {
 public:
  struct State {
    std::vector<std::string> lines;
    std::string refuses;        // the name of an object
    std::int64_t replicas = 0;  // 0: do not change them
  };
  explicit Recorder(std::shared_ptr<State> state) : state_(std::move(state)) {}
  bool Handles(admission::Phase, const Attributes&) const override { return true; }
  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    state_->lines.push_back(Line("mutate", ctx, attributes));
    if (state_->replicas) meta::MakeObject(attributes.object->Root(), "spec")["replicas"] = state_->replicas;
    if (attributes.name == state_->refuses) co_return admission::Forbidden(attributes, "no");
    co_return meta::Result<>();
  }
  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    state_->lines.push_back(Line("validate", ctx, attributes));
    co_return meta::Result<>();
  }

 private:
  const std::shared_ptr<State> state_;
};

const std::string kMaps = "/api/v1/namespaces/ns/configmaps", kDeployments = "/apis/apps/v1/namespaces/ns/deployments";
mesh::Headers Type(const char* type) { return {{"content-type", type}, {"user-agent", "test/1"}}; }
const char* const kDeployment = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
    "spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[]}}}})";

class AdmissionOfWrites : public ::testing::Test {
 protected:
  AdmissionOfWrites() {
    server_.user.name = "alice";
    Send("POST", kMaps, R"({"metadata":{"name":"m"}})");
    Send("POST", kDeployments, kDeployment);
    calls_->lines.clear();
  }
  static admission::ChainPtr ChainOf(const std::shared_ptr<Recorder::State>& state) {
    std::vector<std::unique_ptr<admission::Plugin>> plugins;
    plugins.push_back(std::make_unique<Recorder>(state));
    return std::make_shared<const admission::Chain>(std::move(plugins));
  }
  Reply Send(const std::string& method, const std::string& target, const std::string& body = "",
             const char* type = "application/json") {
    return server_.Send(method, target, body, Type(type));
  }
  /// Expects that both phases were called with these attributes.
  void ExpectBoth(const std::string& line) {
    EXPECT_THAT(calls_->lines, ElementsAre("mutate " + line, "validate " + line));
    calls_->lines.clear();
  }

  const std::shared_ptr<Recorder::State> calls_ = std::make_shared<Recorder::State>();
  TestServer server_{ChainOf(calls_)};
};

TEST_F(AdmissionOfWrites, Create) {
  EXPECT_EQ(Send("POST", kMaps, R"({"metadata":{"name":"n"}})").code, 201);
  ExpectBoth("CREATE /v1, Kind=ConfigMap configmaps./ ns/n object=ConfigMap/n old=- CreateOptions by alice");
  EXPECT_EQ(Send("POST", kMaps + "?dryRun=All", R"({"metadata":{"name":"o"}})").code, 201);
  ExpectBoth("CREATE /v1, Kind=ConfigMap configmaps./ ns/o object=ConfigMap/o old=- CreateOptions dry-run by alice");
}

TEST_F(AdmissionOfWrites, Update) {
  EXPECT_EQ(Send("PUT", kMaps + "/m", R"({"metadata":{"name":"m"},"data":{"a":"b"}})").code, 200);
  ExpectBoth("UPDATE /v1, Kind=ConfigMap configmaps./ ns/m object=ConfigMap/m old=ConfigMap/m UpdateOptions by alice");
  EXPECT_EQ(Send("PUT", kMaps + "/m?dryRun=All", R"({"metadata":{"name":"m"}})").code, 200);
  ExpectBoth(
      "UPDATE /v1, Kind=ConfigMap configmaps./ ns/m object=ConfigMap/m old=ConfigMap/m UpdateOptions dry-run by alice");
}

TEST_F(AdmissionOfWrites, EachTypeOfPatch) {
  const std::string line =
      "UPDATE /v1, Kind=ConfigMap configmaps./ ns/m object=ConfigMap/m old=ConfigMap/m UpdateOptions by alice";
  EXPECT_EQ(
      Send("PATCH", kMaps + "/m", R"([{"op":"add","path":"/data","value":{"a":"1"}}])", "application/json-patch+json")
          .code,
      200);
  ExpectBoth(line);
  EXPECT_EQ(Send("PATCH", kMaps + "/m", R"({"data":{"a":"2"}})", "application/merge-patch+json").code, 200);
  ExpectBoth(line);
  EXPECT_EQ(Send("PATCH", kMaps + "/m", R"({"data":{"a":"3"}})", "application/strategic-merge-patch+json").code, 200);
  ExpectBoth(line);
  const std::string applied = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"b":"1"}})";
  EXPECT_EQ(Send("PATCH", kMaps + "/m?fieldManager=f", applied, "application/apply-patch+yaml").code, 200);
  ExpectBoth(line);
}

TEST_F(AdmissionOfWrites, ApplyOfAnObjectThatDoesNotExistIsACreate) {
  const std::string applied = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"}})";
  EXPECT_EQ(Send("PATCH", kMaps + "/n?fieldManager=f", applied, "application/apply-patch+yaml").code, 201);
  ExpectBoth("CREATE /v1, Kind=ConfigMap configmaps./ ns/n object=ConfigMap/n old=- CreateOptions by alice");
}

TEST_F(AdmissionOfWrites, Status) {
  EXPECT_EQ(
      Send("PATCH", kDeployments + "/d/status", R"({"status":{"replicas":1}})", "application/merge-patch+json").code,
      200);
  ExpectBoth(
      "UPDATE apps/v1, Kind=Deployment deployments.apps/status ns/d object=Deployment/d old=Deployment/d UpdateOptions "
      "by alice");
}

TEST_F(AdmissionOfWrites, ScaleIsSeenAsAScale) {
  const std::string scale =
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","namespace":"ns"},"spec":{"replicas":3}})";
  EXPECT_EQ(Send("PUT", kDeployments + "/d/scale", scale).Json().at("spec").at("replicas"), 3);
  ExpectBoth(
      "UPDATE autoscaling/v1, Kind=Scale deployments.apps/scale ns/d object=Scale/d old=Scale/d UpdateOptions by "
      "alice");
  calls_->replicas = 7;
  EXPECT_EQ(Send("PATCH", kDeployments + "/d/scale", R"({"spec":{"replicas":4}})", "application/merge-patch+json")
                .Json()
                .at("spec")
                .at("replicas"),
            7);
  EXPECT_EQ(Send("GET", kDeployments + "/d").Json().at("spec").at("replicas"), 7);
}

TEST_F(AdmissionOfWrites, Delete) {
  const std::string line = "DELETE /v1, Kind=ConfigMap configmaps./ ns/m object=- old=ConfigMap/m DeleteOptions";
  EXPECT_EQ(Send("DELETE", kMaps + "/m?dryRun=All").code, 200);
  ExpectBoth(line + " dry-run by alice");
  EXPECT_EQ(Send("DELETE", kMaps + "/m").code, 200);
  ExpectBoth(line + " by alice");
}

TEST_F(AdmissionOfWrites, DeleteCollectionAsksForEachObject) {
  Send("POST", kMaps, R"({"metadata":{"name":"n"}})");
  calls_->lines.clear();
  calls_->refuses = "n";
  const Reply reply = Send("DELETE", kMaps);
  EXPECT_EQ(reply.code, 403);
  EXPECT_EQ(reply.Message(), R"(configmaps "Unknown" is forbidden: no)") << "as in kube-apiserver";
  EXPECT_THAT(
      calls_->lines,
      ElementsAre(
          "mutate DELETE /v1, Kind=ConfigMap configmaps./ ns/m object=- old=ConfigMap/m DeleteOptions by alice",
          "validate DELETE /v1, Kind=ConfigMap configmaps./ ns/m object=- old=ConfigMap/m DeleteOptions by alice",
          "mutate DELETE /v1, Kind=ConfigMap configmaps./ ns/n object=- old=ConfigMap/n DeleteOptions by alice"));
  EXPECT_EQ(Send("GET", kMaps + "/m").code, 404);
  EXPECT_EQ(Send("GET", kMaps + "/n").code, 200);
}

TEST_F(AdmissionOfWrites, ARefusalLeavesThingsAsTheyAre) {
  calls_->refuses = "m";
  const std::string before = Send("GET", kMaps + "/m").body;
  EXPECT_EQ(Send("PUT", kMaps + "/m", R"({"metadata":{"name":"m"},"data":{"a":"b"}})").code, 403);
  EXPECT_EQ(Send("PATCH", kMaps + "/m", R"({"data":{"a":"2"}})", "application/merge-patch+json").code, 403);
  EXPECT_EQ(Send("DELETE", kMaps + "/m").code, 403);
  EXPECT_EQ(Send("GET", kMaps + "/m").body, before);
}

/// A kind whose objects are marked by a deletion, as namespaces are.
class HeldStrategy final : public registry::Strategy {
 public:
  bool HoldsBackDeletion(const meta::Object&) const override { return true; }
};

/// Records the options of the last request.
class OptionsRecorder final : public admission::Plugin {
 public:
  explicit OptionsRecorder(std::shared_ptr<std::string> options) : options_(std::move(options)) {}
  bool Handles(admission::Phase phase, const Attributes&) const override {
    return phase == admission::Phase::kValidate;
  }
  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override {
    *options_ = meta::json::serialize(*attributes.options);
    co_return meta::Result<>();
  }

 private:
  const std::shared_ptr<std::string> options_;
};

TEST(HeldDeletions, HaveTheUidAsAPrecondition) {
  const auto options = std::make_shared<std::string>();
  std::vector<std::unique_ptr<admission::Plugin>> plugins;
  plugins.push_back(std::make_unique<OptionsRecorder>(options));
  TestServer server(TestServerOptions{.chain = std::make_shared<const admission::Chain>(std::move(plugins)),
                                      .strategy = std::make_shared<HeldStrategy>()});
  const auto delete_new = [&](const std::string& name, const std::string& body) {
    const Reply created = server.Send("POST", kMaps, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
    const Reply deleted = server.Send("DELETE", kMaps + "/" + name, body);
    EXPECT_EQ(deleted.code, 200) << deleted.body;
    const meta::json::object object = meta::json::parse(created.body).get_object();
    return std::string(meta::FindString(object.at("metadata").get_object(), "uid"));
  };
  std::string uid = delete_new("a", "");
  EXPECT_EQ(*options, fmt::format(R"({{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1",)"
                                  R"("preconditions":{{"uid":"{}"}}}})",
                                  uid));
  uid = delete_new("b", R"({"gracePeriodSeconds":3,"propagationPolicy":"Orphan"})");
  EXPECT_EQ(*options, fmt::format(R"({{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":3,)"
                                  R"("preconditions":{{"uid":"{}"}},"propagationPolicy":"Orphan"}})",
                                  uid));
  EXPECT_EQ(server.Send("DELETE", kMaps).code, 200);
}

}  // namespace
}  // namespace apimesh::endpoint
