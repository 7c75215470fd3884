#include "lib/admission/chain.h"

#include <gmock/gmock.h>

#include "lib/admission/all_plugins.h"
#include "lib/testing/run.h"

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Notes its calls, and refuses in one phase.
class Noting final : public Plugin {
 public:
  Noting(std::string name, std::vector<std::string>& calls, std::string refuses = "", bool handles = true)
      : name_(std::move(name)), calls_(calls), refuses_(std::move(refuses)), handles_(handles) {}
  bool Handles(Phase, const Attributes&) const override { return handles_; }
  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override { return Note("mutate", attributes); }
  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override { return Note("validate", attributes); }

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
  const Chain chain = ChainOf(std::make_unique<Noting>("a", calls, "mutate"), std::make_unique<Noting>("b", calls, "validate"),
                              std::make_unique<Noting>("c", calls));
  Attributes attributes;
  EXPECT_EQ(testing::RunTask(chain.Mutate({}, attributes)).error().Code(), 403);
  EXPECT_EQ(testing::RunTask(chain.Validate({}, attributes)).error().Code(), 403);
  EXPECT_THAT(calls, ElementsAre("a mutate", "a validate", "b validate"));
}

TEST(Chain, SkipsPluginsThatDoNotHandleTheWrite) {
  std::vector<std::string> calls;
  const Chain chain = ChainOf(std::make_unique<Noting>("a", calls, "mutate", false), std::make_unique<Noting>("b", calls));
  Attributes attributes;
  EXPECT_TRUE(testing::RunTask(chain.Mutate({}, attributes)));
  EXPECT_THAT(calls, ElementsAre("b mutate"));
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
INSTANTIATE_TEST_SUITE_P(Table, ForbiddenNames, ::testing::ValuesIn(kNames), [](const auto& info) { return std::string(info.param.test); });

/// The error of a start with these plugins, or "".
std::string StartError(const PluginChoice& choice) {
  try {
    (void)MakeChain({}, choice);
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

TEST(MakeChain, RefusesToEnableWhatIsNotImplemented) {
  const std::string error = StartError({.enable = {"NodeRestriction", "PodSecurity"}});
  EXPECT_THAT(error, HasSubstr(R"(enable-admission-plugins plugin "PodSecurity" is not implemented)"));
  EXPECT_THAT(error, HasSubstr(R"(Remove "PodSecurity" from --enable-admission-plugins)"));
  EXPECT_THAT(StartError({.only = {"ImagePolicyWebhook"}}),
              HasSubstr(R"(admission-control plugin "ImagePolicyWebhook" is not implemented)"));
}

TEST(MakeChain, StartsWithoutDefaultPluginsThatAreNotImplemented) {
  EXPECT_EQ(StartError({}), "");
  EXPECT_EQ(StartError({.disable = {"PodSecurity", "ImagePolicyWebhook"}}), "");
}

TEST(MakeChain, StartsWithWhatKubeadmAndK3sEnable) { EXPECT_EQ(StartError({.enable = {"NodeRestriction"}}), ""); }

/// Whether a write of the node n1 to the node n2 is refused, which NodeRestriction alone does.
bool RefusesForeignNode(const PluginChoice& choice) {
  meta::RequestContext::State state;
  state.user = {.name = "system:node:n1", .groups = {"system:nodes"}};
  Attributes attributes;
  attributes.operation = Operation::kDelete;
  attributes.resource = {"", "v1", "nodes"};
  attributes.name = "n2";
  const ChainPtr chain = MakeChain({}, choice);
  return !testing::RunTask(chain->Mutate(meta::RequestContext(state), attributes));
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
  const meta::Result<> result = testing::RunTask(MakeChain({}, {.only = {"AlwaysDeny"}})->Mutate({}, attributes));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().Message(), R"(pods "p" is forbidden: admission control is denying all modifications)");
}

}  // namespace
}  // namespace apimesh::admission
