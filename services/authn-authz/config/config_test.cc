#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/testing/system_clock.h"
#include "services/authn-authz/authenticators/oidc/claim_mapper.h"
#include "services/authn-authz/authorizers/webhook/match_conditions.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/authorization_config.h"
#include "services/authn-authz/config/expressions.h"
#include "services/authn-authz/config/reloader.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using ::testing::HasSubstr;

constexpr char kAuthentication[] = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
constexpr char kAuthorization[] = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n";
constexpr char kGoodIssuer[] = "issuer: {url: 'https://x', audiences: [a]}";
constexpr char kGoodName[] = "claimMappings: {username: {claim: sub, prefix: ''}}";

struct Case {
  std::string text;
  const char* want;  // part of the message; "": accepted
};

TEST(AuthenticationConfig, SaysWhatIsWrong) {
  const auto jwt = [](const std::string& fields) { return std::string(kAuthentication) + "jwt: [{" + fields + "}]"; };
  const auto good = [&](const std::string& more) {
    return jwt(fmt::format("{}, {}, {}", kGoodIssuer, kGoodName, more));
  };
  const Case cases[] = {
      {kAuthentication, ""},
      {jwt(fmt::format("{}, {}", kGoodIssuer, kGoodName)), ""},
      {"kind: AuthenticationConfiguration", "Object 'apiVersion' is missing in"},
      {"apiVersion: v1\nkind: Pod", "no kind \"Pod\" is registered for version \"v1\""},
      {std::string(kAuthentication) + "jwt: [{foo: 1}]\nbar: 2",
       "strict decoding error: unknown field \"bar\", unknown field \"jwt[0].foo\""},
      {jwt(kGoodName),
       "[jwt[0].issuer.url: Required value, jwt[0].issuer.audiences: Required value: at least one "
       "jwt[0].issuer.audiences is required]"},
      {jwt(kGoodIssuer), "jwt[0].claimMappings.username: Required value: claim or expression is required"},
      {jwt(fmt::format("issuer: {{url: 'https://own', audiences: [a]}}, {}", kGoodName)),
       "URL must not overlap with disallowed issuers: [https://own]"},
      {jwt(fmt::format("issuer: {{url: 'https://u:p@x?q#f', audiences: [a]}}, {}", kGoodName)),
       "URL must not contain a username or password"},
      {jwt(fmt::format("issuer: {{url: 'https://x', discoveryURL: 'https://x/', audiences: [a]}}, {}", kGoodName)),
       "discoveryURL must be different from URL"},
      {jwt(fmt::format("issuer: {{url: 'https://x', audiences: [a, b]}}, {}", kGoodName)),
       "audienceMatchPolicy must be MatchAny for multiple audiences"},
      {jwt(fmt::format("issuer: {{url: 'https://x', audiences: [a], certificateAuthority: nonsense}}, {}", kGoodName)),
       "certificateAuthority: Invalid value: \"<omitted>\""},
      {jwt(fmt::format("issuer: {{url: 'https://x', audiences: [a], egressSelectorType: etcd}}, {}", kGoodName)),
       "jwt[0].issuer.egressSelectorType: Invalid value: \"etcd\": egress selector must be either controlplane or "
       "cluster"},
      {jwt(fmt::format("issuer: {{url: 'https://x', audiences: [a], egressSelectorType: cluster}}, {}", kGoodName)),
       "egressSelectorType: Invalid value: \"cluster\": --egress-selector-config-file does not have this selection"},
      {jwt(fmt::format("{}, claimMappings: {{username: {{claim: sub}}}}", kGoodIssuer)),
       "claimMappings.username.prefix: Required value: prefix is required"},
      {good("claimValidationRules: [{expression: 'claims.x'}]"),
       "claimValidationRules[0].expression: Invalid value: \"claims.x\": must evaluate to bool"},
      {good("claimValidationRules: [{}]"), "claimValidationRules[0]: Required value: claim or expression is required"},
      {good("userValidationRules: [{expression: 'user.name == 1'}]"), "undefined field 'name'"},
      {good("userValidationRules: [{}]"), "userValidationRules[0].expression: Required value"},
      {jwt(fmt::format("{}, claimMappings: {{username: {{expression: 'claims.email'}}}}", kGoodIssuer)),
       "claims.email_verified must be used"},
      {jwt(fmt::format("{}, claimMappings: {{username: {{claim: s, prefix: ''}}, extra: [{{key: a.k8s.io/x, "
                       "valueExpression: \"''\"}}]}}",
                       kGoodIssuer)),
       "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"},
      {std::string(kAuthentication) + "anonymous: {enabled: false, conditions: [{path: /x}]}",
       "anonymous.conditions: Invalid value: [{\"Path\":\"/x\"}]: enabled should be set to true when conditions are "
       "defined"},
      {fmt::format("{}jwt: [{{{}, {}}}, {{{}, {}}}]", kAuthentication, kGoodIssuer, kGoodName, kGoodIssuer, kGoodName),
       "jwt[1].issuer.url: Duplicate value: \"https://x\""},
  };
  AuthenticationOptions options;
  options.service_account_issuers = {"https://own"};
  for (const Case& c : cases) {
    const auto config = ParseAuthenticationConfig(c.text, options);
    EXPECT_EQ(config.has_value(), std::string_view(c.want).empty())
        << c.text << (config ? "" : config.error().Message());
    if (!config) {
      EXPECT_THAT(config.error().Message(), HasSubstr(c.want)) << c.text;
    }
  }
}

TEST(AuthorizationConfig, SaysWhatIsWrong) {
  const auto list = [](const std::string& items) {
    return std::string(kAuthorization) + "authorizers: [" + items + "]";
  };
  const std::string hook =
      "{type: Webhook, name: w, webhook: {timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, "
      "matchConditionSubjectAccessReviewVersion: v1, connectionInfo: {type: KubeConfigFile, kubeConfigFile: "
      "/etc/hostname}";
  const Case cases[] = {
      {list("{type: RBAC, name: rbac}, {type: Node, name: node}"), ""},
      {list(hook + "}}"), ""},
      {list(""), "authorizers: Required value: at least one authorization mode must be defined"},
      {list("{type: RBAC, name: foo}"), "expected name rbac for authorizer RBAC instead of foo"},
      {list("{type: RBAC, name: rbac}, {type: RBAC, name: x}"), "authorizers[1].type: Duplicate value: \"RBAC\""},
      {list("{type: Magic, name: x}"),
       "authorizers[0].type: Unsupported value: \"Magic\": supported values: \"ABAC\", \"AlwaysAllow\""},
      {list("{name: x}"), "authorizers[0].type: Required value"},
      {list("{type: RBAC, name: 'A B'}"), "authorizers[0].name: Invalid value: \"A B\": authorizer name is invalid"},
      {list("{type: Webhook, name: w}"), "authorizers[0].webhook: Required value: required when type=Webhook"},
      {list("{type: RBAC, name: rbac, webhook: {}}"),
       "authorizers[0].webhook: Invalid value: \"non-null\": may only be specified when type=Webhook"},
      {list("{type: Webhook, name: w, webhook: {timeout: 40s}}"),
       "authorizers[0].timeout: Invalid value: \"40s\": must be > 0s and <= 30s"},
      {list("{type: Webhook, name: w, webhook: {}}"), "authorizers[0].timeout: Required value"},
      {list("{type: Webhook, name: w, webhook: {timeout: 1s, connectionInfo: {type: KubeConfigFile, kubeConfigFile: "
            "x}}}"),
       "must be an absolute path"},
      {list(hook + ", matchConditions: [{expression: request.user}]}}"),
       "matchConditions[0].expression: Invalid value: \"request.user\": must evaluate to bool but got string"},
      {list(hook + ", matchConditions: [{expression: 'x'}]}}"), "undeclared reference to 'x'"},
      {list(hook + ", unknownField: 1}}"),
       "strict decoding error: unknown field \"authorizers[0].webhook.unknownField\""},
  };
  for (const Case& c : cases) {
    const auto config = ParseAuthorizationConfig(c.text);
    EXPECT_EQ(config.has_value(), std::string_view(c.want).empty())
        << c.text << (config ? "" : config.error().Message());
    if (!config) {
      EXPECT_THAT(config.error().Message(), HasSubstr(c.want)) << c.text;
    }
  }
  EXPECT_THAT(ParseAuthorizationConfig(list("{type: Node, name: node}"), {"Node", "RBAC"}).error().Message(),
              HasSubstr("missing required types: [RBAC]"));
}

TEST(ClaimMapper, MapsByExpressions) {
  AuthenticationOptions none;
  const auto config = ParseAuthenticationConfig(std::string(kAuthentication) + R"yaml(
jwt:
- issuer: {url: 'https://x', audiences: [a]}
  claimMappings:
    username: {expression: "'u:' + claims.sub"}
    groups: {expression: "claims.groups"}
    uid: {expression: "string(claims.id)"}
    extra: [{key: a.io/t, valueExpression: "claims.?tenant.orValue('')"}]
  claimValidationRules: [{expression: "claims.level > 2", message: too low}]
  userValidationRules: [{expression: "!('root' in user.groups)", message: no root}]
)yaml",
                                                none);
  ASSERT_TRUE(config) << config.error().Message();
  const auto map = [&](const char* claims) -> std::string {
    const auto user = MapClaims(config->issuers[0], boost::json::parse(claims).as_object());
    if (!user) return user.error().Message();
    const auto extra = user->extra.find("a.io/t");
    return fmt::format("{} [{}] {} {}", user->name, fmt::join(user->groups, ","), user->uid,
                       extra == user->extra.end() ? "-" : extra->second.front());
  };
  EXPECT_EQ(map(R"({"sub":"j","groups":["a","","b"],"id":7,"level":3,"tenant":"t"})"), "u:j [a,b] 7 t");
  EXPECT_EQ(map(R"({"sub":"j","groups":"a","id":7,"level":3})"), "u:j [a] 7 -");
  EXPECT_THAT(map(R"({"groups":"a","id":7,"level":3})"), HasSubstr("error evaluating username claim expression"));
  EXPECT_THAT(map(R"({"sub":"j","groups":[1],"id":7,"level":3})"),
              HasSubstr("must return a string or a list of strings"));
  EXPECT_THAT(map(R"({"sub":"j","groups":"a","id":7,"level":1})"),
              HasSubstr("validation expression 'claims.level > 2' failed: too low"));
  EXPECT_THAT(map(R"({"sub":"j","groups":"root","id":7,"level":3})"), HasSubstr("failed: no root"));
}

TEST(MatchConditions, OneFalseExcludes) {
  service::Metrics metrics{apimesh::testing::SystemClock()};
  meta::FieldErrors errors;
  std::vector<cel::Program> programs;
  for (const char* source : {"request.extra['x'] == ['y']", "request.user != 'skipped'"}) {
    programs.push_back(
        *CompileExpression(source, ExpressionScope::kRequest, ExpressionResult::kBool, meta::Path("p"), errors));
  }
  const MatchConditions conditions(std::move(programs), "w", &metrics);
  const auto match = [&](const char* spec) { return conditions.Match(boost::json::parse(spec).as_object()); };
  EXPECT_TRUE(match(R"({"user":"u","extra":{"x":["y"]}})").matches);
  EXPECT_FALSE(match(R"({"user":"skipped"})").matches);
  EXPECT_EQ(match(R"({"user":"skipped"})").error, "") << "the error of another condition does not count";
  EXPECT_THAT(match(R"({"user":"u"})").error, HasSubstr("resulted in error: no such key: x"));
  EXPECT_THAT(metrics.Text(), HasSubstr("apiserver_authorization_match_condition_exclusions_total"));
}

TEST(ConfigReloader, KeepsWhatWorksAndCounts) {
  char folder[] = "/tmp/reloader-test-XXXXXX";
  const std::string file = std::string(mkdtemp(folder)) + "/config";
  const auto write = [&](const char* text) { std::ofstream(file) << text; };
  write("one");
  service::Metrics metrics{apimesh::testing::SystemClock()};
  std::vector<std::string> applied;
  bool healthy = true;
  const auto answer = [](meta::Result<> result) -> Task<meta::Result<>> { co_return result; };
  ConfigReloader reloader(
      file, "test_controller",
      [&](std::string text) {
        if (text == "bad") return answer(meta::BadRequest("bad"));
        if (!healthy) return answer(meta::ServiceUnavailable("not yet"));
        applied.push_back(text);
        return answer(meta::Result<>());
      },
      metrics, apimesh::testing::SystemClock());
  const auto check = [&] {
    boost::asio::io_context io;
    boost::asio::co_spawn(io, reloader.CheckOnce(), boost::asio::detached);
    io.run();
  };
  check();
  EXPECT_TRUE(applied.empty()) << "nothing has changed";
  write("two");
  check();
  check();
  EXPECT_THAT(applied, ::testing::ElementsAre("two"));
  write("bad");
  check();
  check();
  EXPECT_THAT(metrics.Text(), HasSubstr("status=\"failure\"} 1\n")) << "a bad file is looked at once";
  write("three");
  healthy = false;
  check();
  healthy = true;
  check();
  EXPECT_THAT(applied, ::testing::ElementsAre("two", "three")) << "what may come right is tried again";
  std::filesystem::remove_all(folder);
}

TEST(ResetAnonymousAuth, FollowsTheModesOfTheFlags) {
  const struct {
    std::vector<std::string> modes;
    const char* config_file;
    bool anonymous, want_reset;
  } cases[] = {
      {{"AlwaysAllow"}, "", true, true},
      {{"RBAC", "AlwaysAllow"}, "", true, true},
      {{"AlwaysAllow"}, "", false, false},
      {{"Node", "RBAC"}, "", true, false},
      {{"AlwaysDeny"}, "", true, false},
      {{"AlwaysAllow"}, "authorization.yaml", true, false},  // the value of the flag is not used
  };
  for (const auto& c : cases) {
    Options options;
    options.authentication.anonymous_auth = c.anonymous;
    options.authorization.modes = c.modes;
    options.authorization.config_file = c.config_file;
    EXPECT_EQ(ResetAnonymousAuth(options), c.want_reset)
        << fmt::format("{} {}", fmt::join(c.modes, ","), c.config_file);
    EXPECT_EQ(options.authentication.anonymous_auth, c.anonymous && !c.want_reset);
  }
}

}  // namespace
}  // namespace apimesh::authn_authz
