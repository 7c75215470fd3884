#include "lib/admission/plugins/validating_admission_policy/validating_admission_policy.h"

#include "lib/admission/policies/testing_objects.h"
#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

using policies::AdmissionResource;
using Strings = std::vector<std::string>;

constexpr const char* kConfigMaps = R"("failurePolicy":"Fail","matchConstraints":{"resourceRules":[{"apiGroups":[""],)"
                                    R"("apiVersions":["*"],"operations":["*"],"resources":["configmaps"]}]})";

class Policies {
 public:
  Policies() {
    objects->Set({"", "v1", "namespaces"}, R"({"metadata":{"name":"ns","labels":{"env":"test"}}})");
    objects->Set(
        {"", "v1", "configmaps"},
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"limit","namespace":"ns"},"data":{"max":"2"}})");
    objects->Set({"", "v1", "configmaps"},
                 R"({"metadata":{"name":"other","namespace":"ns","labels":{"x":"y"}},"data":{"max":"1"}})");
  }
  /// Adds a policy with the fields `spec` and a binding with the fields `binding`.
  void Add(const std::string& name, const std::string& spec,
           const std::string& binding = R"("validationActions":["Deny"])") {
    objects->Set(AdmissionResource("validatingadmissionpolicies"),
                 fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","generation":1}},"spec":{{{},{}}}}})", name, name,
                             kConfigMaps, spec));
    objects->Set(
        AdmissionResource("validatingadmissionpolicybindings"),
        fmt::format(R"({{"metadata":{{"name":"{}-binding"}},"spec":{{"policyName":"{}",{}}}}})", name, name, binding));
  }
  Outcome Run(const Write& write) {
    if (!plugin) {
      PluginInputs inputs;
      inputs.objects = objects;
      inputs.auth = auth;
      plugin = MakeValidatingAdmissionPolicy(inputs);
    }
    return TestCluster::Run(*plugin, write);
  }
  static Write Create(const std::string& data = R"({"a":"1"})") {
    return {
        .resource = "configmaps",
        .name = "c",
        .object = fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c"}},"data":{}}})", data)};
  }

  std::shared_ptr<policies::FakeObjects> objects = std::make_shared<policies::FakeObjects>();
  std::shared_ptr<FakeAuth> auth = std::make_shared<FakeAuth>();
  std::unique_ptr<Plugin> plugin;
};

std::string Denied(const std::string& why, int code = 422) {
  return fmt::format(
      "{} configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: {}",
      code, why);
}

struct PolicyCase {
  std::string name;
  std::string spec;
  std::string error;
  std::string binding = R"("validationActions":["Deny"])";
  Strings warnings = {};
  std::vector<std::pair<std::string, std::string>> annotations = {};
};
class ValidatingPolicy : public ::testing::TestWithParam<PolicyCase> {};

TEST_P(ValidatingPolicy, DecidesLikeTheReference) {
  Policies policies;
  policies.Add("p", GetParam().spec, GetParam().binding);
  const Outcome outcome = policies.Run(Policies::Create());
  EXPECT_EQ(outcome.error, GetParam().error);
  EXPECT_EQ(outcome.warnings, GetParam().warnings);
  EXPECT_EQ(outcome.annotations, GetParam().annotations);
}

std::string Rule(const std::string& expression, const std::string& more = "") {
  return fmt::format(R"("validations":[{{"expression":"{}"{}}}])", expression, more);
}
constexpr const char* kConfigMapParams = R"("paramKind":{"apiVersion":"v1","kind":"ConfigMap"},)";

const PolicyCase kCases[] = {
    {"Admits", Rule("object.data.a == '1'"), ""},
    {"Denies", Rule("object.data.a == '2'"), Denied("failed expression: object.data.a == '2'")},
    {"Message", Rule("false", R"(,"message":" no ","reason":"Forbidden")"), Denied("no", 403)},
    {"MessageExpression", Rule("false", R"(,"message":"no","messageExpression":"'a is ' + object.data.a")"),
     Denied("a is 1")},
    {"MessageExpressionFails", Rule("false", R"(,"message":"no","messageExpression":"object.data.b")"), Denied("no")},
    {"MessageWithLineBreak", Rule("false", R"(,"messageExpression":"'a\\nb'")"), Denied("failed expression: false")},
    {"TooLarge", Rule("false", R"(,"reason":"RequestEntityTooLarge")"), Denied("failed expression: false", 413)},
    {"EvaluationError", Rule("object.data.b == '1'"),
     Denied("expression 'object.data.b == '1'' resulted in error: no such key: b")},
    {"EvaluationErrorIsIgnored", R"("failurePolicy":"Ignore",)" + Rule("object.data.b == '1'"), ""},
    {"CompilationError", Rule("object.data."),
     Denied("compilation error: compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input "
            "'.'\n | object.data.\n | ............^")},
    {"Variables",
     R"("variables":[{"name":"a","expression":"object.data.a"},{"name":"b","expression":"variables.a + '!'"}],)" +
         Rule("variables.b == '1!'"),
     ""},
    {"NamespaceObject", Rule("namespaceObject.metadata.labels.env == 'test'"), ""},
    {"Request", Rule("request.operation == 'CREATE' && request.namespace == 'ns' && request.name == 'c'"), ""},
    {"MatchConditionExcludes", R"("matchConditions":[{"name":"x","expression":"false"}],)" + Rule("false"), ""},
    {"MatchConditionFails", R"("matchConditions":[{"name":"x","expression":"object.x"}],)" + Rule("true"),
     Denied("compilation error: must evaluate to bool but got dyn")},
    {"Authorizer", Rule("authorizer.requestResource.check('create').allowed()"),
     Denied("failed expression: authorizer.requestResource.check('create').allowed()")},
    {"Budget",
     R"("variables":[{"name":"l","expression":"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]"}],)" +
         Rule("variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, a+b+c+d > 0))))"),
     Denied("expression 'variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, a+b+c+d > 0))))' "
            "resulted in error: operation cancelled: actual cost limit exceeded")},
    {"Warns",
     Rule("false", R"(,"message":"no")"),
     "",
     R"("validationActions":["Warn"])",
     {"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': no"}},
    {"Audits",
     Rule("false", R"(,"message":"<no>")"),
     "",
     R"("validationActions":["Audit"])",
     {},
     {{"validation.policy.admission.k8s.io/validation_failure",
       R"([{"message":"\u003cno\u003e","policy":"p","binding":"p-binding","expressionIndex":0,)"
       R"("validationActions":["Audit"]}])"}}},
    {"AuditAnnotation",
     R"("auditAnnotations":[{"key":"k","valueExpression":"'value ' + object.data.a"},{"key":"none","valueExpression":"null"}])",
     "",
     R"("validationActions":["Deny"])",
     {},
     {{"p/k", "value 1"}}},
    {"AuditAnnotationFails", R"j("auditAnnotations":[{"key":"k","valueExpression":"string(object.data.b)"}])j",
     Denied("expression 'string(object.data.b)' resulted in error: no such key: b")},
    {"Params", kConfigMapParams + Rule("object.data.size() < int(params.data.max)"), "",
     R"("validationActions":["Deny"],"paramRef":{"name":"limit","parameterNotFoundAction":"Deny"})"},
    {"ParamsBySelector", kConfigMapParams + Rule("object.data.size() < int(params.data.max)"),
     Denied("failed expression: object.data.size() < int(params.data.max)"),
     R"("validationActions":["Deny"],"paramRef":{"selector":{"matchLabels":{"x":"y"}},"parameterNotFoundAction":"Deny"})"},
    {"ParamsMissing", kConfigMapParams + Rule("true"),
     Denied("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
     R"("validationActions":["Deny"],"paramRef":{"name":"none","parameterNotFoundAction":"Deny"})"},
    {"ParamsMissingAllowed", kConfigMapParams + Rule("false"), "",
     R"("validationActions":["Deny"],"paramRef":{"name":"none","parameterNotFoundAction":"Allow"})"},
    {"ParamsWithoutRef", kConfigMapParams + Rule("params == null"), ""},
    {"UnknownParamKind", R"("paramKind":{"apiVersion":"a.b/v1","kind":"Foo"},)" + Rule("true"),
     "422 configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: "
     "failed "
     "to find resource referenced by paramKind: 'a.b/v1, Kind=Foo'"},
    {"BindingSelectsOthers", Rule("false"), "",
     R"("validationActions":["Deny"],"matchResources":{"namespaceSelector":{"matchLabels":{"env":"prod"}}})"},
};
INSTANTIATE_TEST_SUITE_P(Table, ValidatingPolicy, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(ValidatingPolicies, ChangesTakeEffectAtOnce) {
  Policies policies;
  EXPECT_FALSE(policies.Run(Policies::Create()).asked);
  policies.Add("p", Rule("false"));
  EXPECT_NE(policies.Run(Policies::Create()).error, "");
}

TEST(ValidatingPolicies, AsksTheAuthorizerAndEvaluatesAgain) {
  Policies policies;
  policies.Add("p", Rule("authorizer.requestResource.check('create').allowed() && "
                         "!authorizer.group('apps').resource('x').check('get').allowed()"));
  policies.auth->decide = [](const service::AccessQuestion& question) -> meta::Result<service::AccessDecision> {
    service::AccessDecision decision;
    decision.allowed = question.info.resource == "configmaps" && question.info.ns == "ns" && question.info.name == "c";
    return decision;
  };
  EXPECT_EQ(policies.Run(Policies::Create()).error, "");
}

TEST(ValidatingPolicies, PoliciesAndReviewsAreNotChecked) {
  Policies policies;
  policies.objects->synced = false;  // would wait for the policies otherwise
  for (const char* resource : {"validatingadmissionpolicies.admissionregistration.k8s.io",
                               "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
                               "tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io"}) {
    EXPECT_FALSE(policies.Run({.resource = resource, .object = "{}"}).asked) << resource;
  }
}

TEST(ValidatingPolicies, WithoutObjectsRequestsAreRejected) {
  const std::unique_ptr<Plugin> plugin = MakeValidatingAdmissionPolicy({});
  EXPECT_EQ(TestCluster::Run(*plugin, Policies::Create()).error,
            "403 configmaps \"c\" is forbidden: not yet ready to handle request");
}

}  // namespace
}  // namespace apimesh::admission
