#include "services/core-api/groups/certificates/certificatesigningrequest/certificatesigningrequest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/test_requests.h"
#include "lib/testing/manual_clock.h"
#include "services/core-api/groups/certificates/certificatesigningrequest/validation.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Strings = std::vector<std::string>;

/// Returns a request with these fields of spec besides its PEM, and with this status.
std::string Csr(const std::string& spec = R"("signerName":"example.com/a","usages":["client auth"])",
                const std::string& status = "{}", const std::string& pem = credentials::test_requests::kDevs) {
  return R"({"metadata":{"name":"r"},"spec":{"request":")" + EncodeBase64(pem) + "\"" +
         (spec.empty() ? "" : "," + spec) + R"(},"status":)" + status + "}";
}
std::string WithStatus(const std::string& status) {
  return Csr(R"("signerName":"example.com/a","usages":["client auth"])", status);
}
/// Returns a condition with times, as stored conditions have them.
std::string Condition(const std::string& type, const std::string& more = R"("status":"True")") {
  return R"({"type":")" + type +
         R"(","lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z",)" + more + "}";
}
std::string Conditions(const std::string& conditions) { return WithStatus(R"({"conditions":[)" + conditions + "]}"); }
std::string Issued(const std::string& pem = credentials::test_requests::kCertificate) {
  return WithStatus(R"({"certificate":")" + EncodeBase64(pem) + "\"}");
}

/// Returns the resource with a clock that is one hour after the times in the objects below.
registry::Resource NewResource() {
  static apimesh::testing::ManualClock clock;
  if (clock.Now() == apimesh::testing::ManualClock().Now()) clock.Advance(std::chrono::hours(1));
  KindInputs inputs;
  inputs.clock = &clock;
  return CertificateSigningRequestResource(inputs);
}

meta::RequestContext As(meta::UserInfo user) {
  meta::RequestContext::State state;
  state.user = std::move(user);
  return meta::RequestContext(std::move(state));
}

TEST(CertificateSigningRequest, NobodyNamesThemselves) {
  const registry::Resource resource = NewResource();
  meta::Object object = Parse(
      Csr(R"("signerName":"example.com/a","username":"root","uid":"1","groups":["system:masters"],"extra":{"a":["b"]})",
          R"({"conditions":[{"type":"Approved","status":"True"}],"certificate":"eA=="})"));
  resource.strategy->PrepareForCreate(
      As({.name = "jane", .uid = "u", .groups = {"devs", "system:authenticated"}, .extra = {{"k", {"v", "w"}}}}),
      object);
  EXPECT_EQ(JsonAt(object, "spec", "username"), R"("jane")");
  EXPECT_EQ(JsonAt(object, "spec", "uid"), R"("u")");
  EXPECT_EQ(JsonAt(object, "spec", "groups"), R"(["devs","system:authenticated"])");
  EXPECT_EQ(JsonAt(object, "spec", "extra"), R"({"k":["v","w"]})");
  EXPECT_EQ(JsonAt(object, "status"), "");
  resource.strategy->PrepareForCreate(As({.name = "nobody"}), object);
  EXPECT_EQ(JsonAt(object, "spec", "uid") + JsonAt(object, "spec", "groups") + JsonAt(object, "spec", "extra"), "");
}

struct CreateCase {
  const char* name;
  std::string json;
  Strings want;
};
// The messages are those of kube-apiserver v1.36 for the same objects.
const CreateCase kCreates[] = {
    {"Fine", Csr(), {}},
    {"Shortest",
     Csr(R"("signerName":"kubernetes.io/kube-apiserver-client","usages":["any"],"expirationSeconds":600)"),
     {}},
    {"Empty", Csr(""), {"spec.usages: Required value", "spec.signerName: Required value"}},
    {"Usages",
     Csr(R"("signerName":"example.com/a","usages":["any","any"])"),
     {"spec.usages[1]: Duplicate value: \"any\""}},
    {"Legacy",
     Csr(R"("signerName":"kubernetes.io/legacy-unknown","usages":["any"])"),
     {"spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName is not allowed via this "
      "API version"}},
    {"Short",
     Csr(R"("signerName":"example.com/a","usages":["any"],"expirationSeconds":599)"),
     {"spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"}},
    {"NoSlash",
     Csr(R"("signerName":"example.com","usages":["any"])"),
     {"spec.signerName: Invalid value: \"example.com\": must be a fully qualified domain and path of the form "
      "'example.com/signer-name'"}},
    {"NoDomain",
     Csr(R"("signerName":"example/a","usages":["any"])"),
     {"spec.signerName: Invalid value: \"example\": should be a domain with at least two segments separated by dots"}},
    {"StatusIsDropped", WithStatus(R"({"conditions":[{"type":"Approved"}],"certificate":"eA=="})"), {}},
};
class CsrCreate : public ::testing::TestWithParam<CreateCase> {};
TEST_P(CsrCreate, Complains) { EXPECT_EQ(CreateErrors(NewResource(), GetParam().json), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, CsrCreate, ::testing::ValuesIn(kCreates),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CertificateSigningRequest, RequestIsChecked) {
  const registry::Resource resource = NewResource();
  const std::string spec = R"("signerName":"example.com/a","usages":["any"])";
  EXPECT_THAT(CreateErrors(resource, Csr(spec, "{}", "hello")),
              ElementsAre("spec.request: Invalid value: \"aGVsbG8=\": PEM block type must be CERTIFICATE REQUEST"));
  EXPECT_THAT(CreateErrors(resource, Csr(spec, "{}", credentials::test_requests::kForgedSignature)),
              ElementsAre(HasSubstr("x509: ECDSA verification failure")));
  EXPECT_THAT(
      CreateErrors(resource, Csr(R"("signerName":"example.com/a","usages":["web"])")),
      ElementsAre(HasSubstr(
          "spec.usages[0]: Unsupported value: \"web\": supported values: \"any\", \"cert sign\", \"client auth\"")));
}

/// Returns the errors of an update from `before` to `after` through a subresource.
Strings Errors(std::string_view subresource, std::string_view before, std::string_view after) {
  registry::Resource resource = NewResource();
  for (const registry::Subresource& known : resource.subresources) {
    if (known.name == subresource) resource.strategy = known.strategy;
  }
  return UpdateErrors(resource, before, after);
}

struct UpdateCase {
  const char* name;
  const char* subresource;
  std::string before, after;
  Strings want;
};
const UpdateCase kUpdates[] = {
    {"SpecIsKept", "", Csr(), Csr(R"("signerName":"nonsense")"), {}},
    {"StatusIsKept", "", Csr(), Conditions(Condition("Approved")), {}},
    {"Approve", "approval", Csr(), Conditions(Condition("Approved")), {}},
    {"Deny", "approval", Csr(), Conditions(Condition("Denied")), {}},
    {"ApproveAndDeny",
     "approval",
     Csr(),
     Conditions(Condition("Approved") + "," + Condition("Denied")),
     {"status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive"}},
    {"DenyApproved",
     "approval",
     Conditions(Condition("Approved")),
     Conditions(Condition("Denied")),
     {"status.conditions: Forbidden: updates may not remove a condition of type \"Approved\""}},
    {"ApproveTwice",
     "approval",
     Csr(),
     Conditions(Condition("Approved") + "," + Condition("Approved")),
     {"status.conditions[1].type: Duplicate value: \"Approved\""}},
    {"ApproveFalse",
     "approval",
     Csr(),
     Conditions(Condition("Approved", R"("status":"False")")),
     {"status.conditions[0].status: Unsupported value: \"False\": supported values: \"True\""}},
    {"NoStatus", "approval", Csr(), Conditions(R"({"type":"a"})"), {"status.conditions[0].status: Required value"}},
    {"NoType", "approval", Csr(), Conditions(R"({"status":"True"})"), {"status.conditions[0].type: Required value"}},
    {"ApprovalSetsNoCertificate", "approval", Csr(), Issued(), {}},
    {"ApproveByStatus",
     "status",
     Csr(),
     Conditions(Condition("Approved")),
     {"status.conditions: Forbidden: updates may not add a condition of type \"Approved\""}},
    {"UnapproveByStatus",
     "status",
     Conditions(Condition("Approved")),
     Csr(),
     {"status.conditions: Forbidden: updates may not remove a condition of type \"Approved\""}},
    {"ModifyByStatus",
     "status",
     Conditions(Condition("Approved")),
     Conditions(Condition("Approved", R"("status":"True","reason":"x")")),
     {}},
    {"Fail", "status", Csr(), Conditions(Condition("Failed")), {}},
    {"Issue", "status", Csr(), Issued(), {}},
    {"IssueNonsense",
     "status",
     Csr(),
     Issued("hello"),
     {"status.certificate: Invalid value: \"<certificate data>\": must contain at least one CERTIFICATE PEM block"}},
    {"IssueAgain",
     "status",
     Issued(),
     Issued(std::string("x\n") + credentials::test_requests::kCertificate),
     {"status.certificate: Forbidden: updates may not modify existing certificate content"}},
};
class CsrUpdates : public ::testing::TestWithParam<UpdateCase> {};
TEST_P(CsrUpdates, Complain) {
  EXPECT_EQ(Errors(GetParam().subresource, GetParam().before, GetParam().after), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, CsrUpdates, ::testing::ValuesIn(kUpdates),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CertificateSigningRequest, OldMistakesAreTolerated) {
  const std::string bad = Csr(R"("signerName":"kubernetes.io/legacy-unknown","usages":["web","web"])",
                              R"({"conditions":[)" + Condition("") + "," + Condition("Approved") + "," +
                                  Condition("Denied") + "," + Condition("Denied") + R"(],"certificate":"eA=="})");
  for (const char* subresource : {"", "status", "approval"})
    EXPECT_THAT(Errors(subresource, bad, bad), IsEmpty()) << subresource;
}

TEST(CertificateSigningRequest, SubresourcesChangeOnlyTheirPart) {
  const registry::Resource resource = NewResource();
  const meta::Object old = Parse(Csr());
  for (const registry::Subresource& subresource : resource.subresources) {
    meta::Object object = Parse(Csr(R"("signerName":"example.com/b","username":"root")",
                                    R"({"conditions":[{"type":"a","status":"True"}],"certificate":"eA=="})"));
    subresource.strategy->PrepareForUpdate({}, object, old);
    EXPECT_EQ(JsonAt(object, "spec"), JsonAt(old, "spec")) << subresource.name;
    EXPECT_EQ(JsonAt(object, "status", "certificate"), subresource.name == "approval" ? "" : R"("eA==")");
  }
}

TEST(CertificateSigningRequest, ConditionTimes) {
  const registry::Resource resource = NewResource();
  const meta::Object old = Parse(Conditions(Condition("Failed") + "," + Condition("Approved")));
  meta::Object object = Parse(Conditions(
      R"({"type":"Failed","status":"True"},{"type":"Approved","status":"True","reason":"other"},{"type":"New","status":"True"})"));
  for (const registry::Subresource& subresource : resource.subresources) {
    if (subresource.name == "status") subresource.strategy->PrepareForUpdate({}, object, old);
  }
  const meta::json::array& conditions = meta::Find(object.Root(), "status", "conditions")->get_array();
  EXPECT_EQ(conditions[0].at("lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(conditions[0].at("lastUpdateTime"), "2026-01-01T01:00:00Z");
  EXPECT_EQ(conditions[1], meta::Find(old.Root(), "status", "conditions")->get_array()[1]);
  EXPECT_EQ(conditions[2].at("lastUpdateTime"), conditions[2].at("lastTransitionTime"));
}

TEST(CertificateSigningRequest, Table) {
  const registry::Resource resource = NewResource();
  EXPECT_EQ(
      Row(resource,
          R"({"metadata":{"name":"r"},"spec":{"signerName":"example.com/a","username":"jane","expirationSeconds":3600}})"),
      R"(["r","<unknown>","example.com/a","jane","60m","Pending"])");
  EXPECT_EQ(
      Row(resource,
          R"({"metadata":{"name":"r"},"status":{"conditions":[{"type":"Approved"},{"type":"Failed"}],"certificate":"eA=="}})"),
      R"(["r","<unknown>","<none>","","<none>","Approved,Failed,Issued"])");
  EXPECT_EQ(Row(resource, R"({"metadata":{"name":"r"},"status":{"conditions":[{"type":"Denied"}]}})"),
            R"(["r","<unknown>","<none>","","<none>","Denied"])");
}

}  // namespace
}  // namespace apimesh::core_api
