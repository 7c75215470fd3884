#include <gtest/gtest.h>

#include "services/core-api/groups/admissionregistration/admissionpolicy/admissionpolicy.h"
#include "services/core-api/groups/admissionregistration/admissionpolicybinding/admissionpolicybinding.h"
#include "services/core-api/groups/admissionregistration/webhookconfiguration/webhookconfiguration.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const KindCase kCreates[] = {
    {&ValidatingWebhookConfigurationResource,
     R"({"webhooks":[{"name":"a.b.c","clientConfig":{"url":"https://x/y"},"sideEffects":"None",)"
     R"("admissionReviewVersions":["v1"]}]})",
     {}},
    {&MutatingWebhookConfigurationResource,
     R"({"webhooks":[{"name":"a.b","clientConfig":{"url":"http://u@x?q#f"},"timeoutSeconds":31}]})",
     {R"(webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots)",
      "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
      "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
      R"(webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: )"
      "https://host[/path]",
      R"(webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL)",
      R"(webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL)",
      R"(webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL)",
      "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"}},
    {&ValidatingAdmissionPolicyResource,
     R"({"metadata":{"name":"p"},"spec":{}})",
     {"spec.matchConstraints: Required value",
      "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
      "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item"}},
    {&MutatingAdmissionPolicyResource,
     R"({"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],)"
     R"("operations":["DELETE"]}]},"mutations":[{"patchType":"JSONPatch"}],"reinvocationPolicy":"Never"}})",
     {R"(spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", )"
      R"("CONNECT", "CREATE", "UPDATE")",
      "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch"}},
    {&ValidatingAdmissionPolicyBindingResource,
     R"({"spec":{"policyName":"p"}})",
     {"spec.validationActions: Required value: at least one validation action is required"}},
    {&MutatingAdmissionPolicyBindingResource, R"({"spec":{"policyName":"p"}})", {}},
};

TEST(AdmissionRegistration, Creates) {
  for (const KindCase& one : kCreates) EXPECT_EQ(CreateErrors(one.kind({}), one.object), one.want) << one.object;
}

TEST(AdmissionRegistration, OldSideEffectsMayStay) {
  const char* old = R"({"webhooks":[{"name":"a.b.c","clientConfig":{"url":"https://x"},"sideEffects":"Some",)"
                    R"("admissionReviewVersions":["v1"]}]})";
  EXPECT_EQ(UpdateErrors(ValidatingWebhookConfigurationResource({}), old, old), Strings());
  EXPECT_EQ(CreateErrors(ValidatingWebhookConfigurationResource({}), old).size(), 1U);
}

TEST(AdmissionRegistration, Rows) {
  EXPECT_EQ(Row(ValidatingAdmissionPolicyResource({}),
                R"({"metadata":{"name":"a"},"spec":{"validations":[{}],"paramKind":{"apiVersion":"v1","kind":"K"}}})"),
            R"(["a",1,"v1/K","<unknown>"])");
  EXPECT_EQ(Row(MutatingAdmissionPolicyBindingResource({}),
                R"({"metadata":{"name":"a"},"spec":{"policyName":"p","paramRef":{"name":"n"}}})"),
            R"(["a","p","*/n","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
