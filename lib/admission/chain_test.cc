#include "lib/admission/chain.h"

#include <fstream>

#include <gmock/gmock.h>

#include "lib/admission/all_plugins.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"
#include "lib/testing/temp_path.h"

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Records its calls and rejects in one phase.
class Noting final : public Plugin {
 public:
  Noting(std::string name, std::vector<std::string>& calls, std::string refuses = "", bool handles = true)
      : name_(std::move(name)), calls_(calls), refuses_(std::move(refuses)), handles_(handles) {}
  bool Handles(Phase, const Attributes&) const override { return handles_; }
  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    return Note("mutate", attributes);
  }
  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override {
    return Note("validate", attributes);
  }

 private:
  Task<meta::Result<>> Note(std::string phase, const Attributes& attributes) {
    calls_.push_back(name_ + " " + phase);
    if (phase == refuses_) co_return Forbidden(attributes, "no");
    co_return meta::Result<>();
  }
  const std::string name_;
  std::vector<std::string>& calls_;
  const std::string refuses_;
  const bool handles_;
};

template <class... Plugins>
Chain ChainOf(Plugins... plugin) {
  std::vector<std::unique_ptr<Plugin>> plugins;
  (plugins.push_back(std::move(plugin)), ...);
  return Chain(std::move(plugins));
}

TEST(Chain, RunsPluginsInOrder) {
  std::vector<std::string> calls;
  const Chain chain = ChainOf(std::make_unique<Noting>("a", calls), std::make_unique<Noting>("b", calls));
  Attributes attributes;
  EXPECT_TRUE(testing::RunTask(chain.Mutate({}, attributes)));
  EXPECT_TRUE(testing::RunTask(chain.Validate({}, attributes)));
  EXPECT_THAT(calls, ElementsAre("a mutate", "b mutate", "a validate", "b validate"));
}

TEST(Chain, EndsWithTheFirstRefusal) {
  std::vector<std::string> calls;
  const Chain chain = ChainOf(std::make_unique<Noting>("a", calls, "mutate"),
                              std::make_unique<Noting>("b", calls, "validate"), std::make_unique<Noting>("c", calls));
  Attributes attributes;
  EXPECT_EQ(testing::RunTask(chain.Mutate({}, attributes)).error().Code(), 403);
  EXPECT_EQ(testing::RunTask(chain.Validate({}, attributes)).error().Code(), 403);
  EXPECT_THAT(calls, ElementsAre("a mutate", "a validate", "b validate"));
}

TEST(Chain, SkipsPluginsThatDoNotHandleTheWrite) {
  std::vector<std::string> calls;
  const Chain chain =
      ChainOf(std::make_unique<Noting>("a", calls, "mutate", false), std::make_unique<Noting>("b", calls));
  Attributes attributes;
  EXPECT_TRUE(testing::RunTask(chain.Mutate({}, attributes)));
  EXPECT_THAT(calls, ElementsAre("b mutate"));
}

TEST(Chain, CountsStepsAndPluginsAsKubeApiserverDoes) {
  std::vector<std::string> calls;
  const testing::ManualClock clock;
  service::Metrics metrics(clock);
  std::vector<Chain::NamedPlugin> plugins;
  plugins.push_back({"A", std::make_unique<Noting>("a", calls)});
  plugins.push_back({"B", std::make_unique<Noting>("b", calls, "validate")});
  plugins.push_back({"C", std::make_unique<Noting>("c", calls, "", false)});
  const Chain chain(std::move(plugins), metrics, clock);
  Attributes attributes;
  attributes.operation = Operation::kUpdate;
  EXPECT_TRUE(testing::RunTask(chain.Mutate({}, attributes)));
  EXPECT_FALSE(testing::RunTask(chain.Validate({}, attributes)));
  const std::string text = metrics.Text();
  const std::string step = "apiserver_admission_step_admission_duration_seconds_count";
  const std::string summary = "apiserver_admission_step_admission_duration_seconds_summary";
  const std::string controller = "apiserver_admission_controller_admission_duration_seconds_count";
  EXPECT_THAT(text, HasSubstr(step + R"({operation="UPDATE",rejected="false",type="admit"} 1)"));
  EXPECT_THAT(text, HasSubstr(step + R"({operation="UPDATE",rejected="true",type="validate"} 1)"));
  EXPECT_THAT(text, HasSubstr(summary + R"(_count{operation="UPDATE",rejected="true",type="validate"} 1)"));
  EXPECT_THAT(text, HasSubstr(summary + R"(_sum{operation="UPDATE",rejected="true",type="validate"} )"));
  EXPECT_THAT(text, HasSubstr("# TYPE " + summary + " summary"));
  EXPECT_THAT(text, HasSubstr(controller + R"({name="A",operation="UPDATE",rejected="false",type="admit"} 1)"));
  EXPECT_THAT(text, HasSubstr(controller + R"({name="B",operation="UPDATE",rejected="true",type="validate"} 1)"));
  EXPECT_THAT(text, Not(HasSubstr(R"(name="C")")));
}

struct NameCase {
  const char* test;
  const char* name;
  const char* object;
  const char* want;
};
const NameCase kNames[] = {
    {"OfThePath", "p", R"({"metadata":{"name":"q"}})", R"(pods "p" is forbidden: no)"},
    {"OfTheObject", "", R"({"metadata":{"name":"q"}})", R"(pods "q" is forbidden: no)"},
    {"ToBeGenerated", "", R"({"metadata":{"generateName":"q-"}})", R"(pods "q-" is forbidden: no)"},
    {"Missing", "", "{}", R"(pods "Unknown" is forbidden: no)"},
};
class ForbiddenNames : public ::testing::TestWithParam<NameCase> {};

TEST_P(ForbiddenNames, TheObject) {
  meta::Object object(boost::json::parse(GetParam().object).as_object());
  Attributes attributes;
  attributes.resource = {"", "v1", "pods"};
  attributes.name = GetParam().name;
  attributes.object = &object;
  EXPECT_EQ(Forbidden(attributes, "no").Message(), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, ForbiddenNames, ::testing::ValuesIn(kNames),
                         [](const auto& info) { return std::string(info.param.test); });

PluginInputs Inputs() {
  static const testing::ManualClock clock;
  PluginInputs inputs;
  inputs.clock = &clock;
  return inputs;
}

/// Returns the error of a start with these plugins, or "".
std::string StartError(const PluginChoice& choice) {
  try {
    (void)MakeChain(Inputs(), choice);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(MakeChain, RefusesUnknownNames) {
  EXPECT_EQ(StartError({.enable = {"Nonsense"}}), R"(enable-admission-plugins plugin "Nonsense" is unknown)");
  EXPECT_EQ(StartError({.disable = {"Nonsense"}}), R"(disable-admission-plugins plugin "Nonsense" is unknown)");
  EXPECT_EQ(StartError({.only = {"Nonsense"}}), R"(admission-control plugin "Nonsense" is unknown)");
}

TEST(MakeChain, StartsWithTheDefaultPluginsAndWithout) {
  EXPECT_EQ(StartError({}), "");
  EXPECT_EQ(StartError({.disable = {"ResourceQuota", "ImagePolicyWebhook"}}), "");
}

TEST(MakeChain, StartsWithWhatKubeadmAndK3sEnable) { EXPECT_EQ(StartError({.enable = {"NodeRestriction"}}), ""); }

TEST(MakeChain, RefusesSectionsThatNobodyWouldRead) {
  const auto write = [](const std::string& plugin) {
    const std::string path = testing::TempPath("admission-sections.yaml");
    std::ofstream(path) << "kind: AdmissionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nplugins:\n- name: "
                        << plugin << "\n";
    return path;
  };
  EXPECT_THAT(StartError({.config_file = write("LimitRanger")}), HasSubstr(R"(configures the plugin "LimitRanger")"));
  EXPECT_EQ(StartError({.config_file = write("Unknown")}), "");
  EXPECT_THAT(StartError({.config_file = testing::TempPath("missing.yaml")}),
              HasSubstr("unable to read admission control configuration"));
}

/// Returns whether NodeRestriction rejects a write of node n1 to node n2. Other plugins reject it too, because the test
/// has no objects.
bool RefusesForeignNode(const PluginChoice& choice) {
  meta::RequestContext::State state;
  state.user = {.name = "system:node:n1", .groups = {"system:nodes"}};
  Attributes attributes;
  attributes.operation = Operation::kDelete;
  attributes.resource = {"", "v1", "nodes"};
  attributes.name = "n2";
  const ChainPtr chain = MakeChain(Inputs(), choice);
  const meta::Result<> admitted = testing::RunTask(chain->Mutate(meta::RequestContext(state), attributes));
  return !admitted && admitted.error().Message().find("node \"n1\" is not allowed") != std::string::npos;
}

TEST(MakeChain, RunsNodeRestrictionOnlyWhenItIsEnabled) {
  EXPECT_FALSE(RefusesForeignNode({}));
  EXPECT_TRUE(RefusesForeignNode({.enable = {"NodeRestriction"}}));
  EXPECT_TRUE(RefusesForeignNode({.only = {"NodeRestriction"}}));
  EXPECT_FALSE(RefusesForeignNode({.only = {"AlwaysAdmit"}}));
}

TEST(AlwaysDeny, RefusesEverything) {
  Attributes attributes;
  attributes.operation = Operation::kConnect;
  attributes.resource = {"", "v1", "pods"};
  attributes.name = "p";
  const meta::Result<> result = testing::RunTask(MakeChain(Inputs(), {.only = {"AlwaysDeny"}})->Mutate({}, attributes));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().Message(), R"(pods "p" is forbidden: admission control is denying all modifications)");
}

TEST(Forbidden, NamesTheObjectOfTheRequest) {
  Attributes attributes;
  attributes.resource = {"", "v1", "pods"};
  attributes.name = "p";
  EXPECT_EQ(Forbidden(attributes, "no").Message(), R"(pods "p" is forbidden: no)");
  attributes.deletes_collection = true;
  EXPECT_EQ(Forbidden(attributes, "no").Message(), R"(pods "Unknown" is forbidden: no)");
}

}  // namespace
}  // namespace apimesh::admission
