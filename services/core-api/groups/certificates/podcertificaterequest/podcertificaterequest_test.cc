#include "services/core-api/groups/certificates/podcertificaterequest/podcertificaterequest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/credentials/test_requests.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/certificates/podcertificaterequest/validation.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns the Base64 text of a PEM block.
std::string BodyOf(std::string_view pem) {
  std::string body;
  while (!pem.empty()) {
    const std::size_t end = std::min(pem.find('\n'), pem.size());
    if (!pem.starts_with("-----")) body += pem.substr(0, end);
    pem.remove_prefix(std::min(end + 1, pem.size()));
  }
  return body;
}

json::object Spec() {
  return {{"signerName", "example.com/a"},
          {"podName", "p"},
          {"podUID", "u"},
          {"serviceAccountName", "s"},
          {"serviceAccountUID", "v"},
          {"nodeName", "n"},
          {"nodeUID", "w"},
          {"maxExpirationSeconds", 3600},
          {"stubPKCS10Request", BodyOf(credentials::test_requests::kDevs)}};
}
meta::Object Request(json::object changes, json::object status = {}) {
  json::object spec = Spec();
  for (const auto& [field, value] : changes) spec[field] = value;
  json::object root;
  root["metadata"] = {{"name", "r"}, {"namespace", "ns"}};
  root["spec"] = std::move(spec);
  root["status"] = std::move(status);
  return meta::Object(std::move(root));
}

std::vector<std::string> Errors(json::object changes) {
  return testing::Texts(ValidatePodCertificateRequest(Request(std::move(changes))));
}

TEST(PodCertificateRequest, Keys) {
  EXPECT_THAT(Errors({}), IsEmpty());
  EXPECT_THAT(Errors({{"stubPKCS10Request", "eHg="}}),
              ElementsAre("spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"));
  EXPECT_THAT(Errors({{"stubPKCS10Request", BodyOf(credentials::test_requests::kForgedSignature)}}),
              ElementsAre("spec.stubPKCS10Request: Invalid value: invalid signature"));
  EXPECT_THAT(Errors({{"stubPKCS10Request", BodyOf(credentials::test_requests::kExplicitCurve)}}),
              ElementsAre("spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"));
  constexpr const char* kOneOf =
      "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
  EXPECT_THAT(Errors({{"stubPKCS10Request", ""}}), ElementsAre(kOneOf));
  EXPECT_THAT(Errors({{"pkixPublicKey", "eHg="}}), ElementsAre(kOneOf));
  EXPECT_THAT(Errors({{"stubPKCS10Request", ""}, {"pkixPublicKey", "eHg="}, {"proofOfPossession", "eHg="}}),
              ElementsAre("spec.pkixPublicKey: Invalid value: \"eHg=\": must be a valid PKIX-serialized public key"));
}

TEST(PodCertificateRequest, NamesAndTimes) {
  EXPECT_THAT(Errors({{"podUID", ""}}), ElementsAre("spec.podUID: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(Errors({{"nodeUID", std::string(129, 'x')}}),
              ElementsAre("spec.nodeUID: Too long: may not be more than 128 bytes"));
  EXPECT_THAT(Errors({{"maxExpirationSeconds", 3599}}),
              ElementsAre("spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"));
  EXPECT_THAT(Errors({{"signerName", "kubernetes.io/a"}, {"maxExpirationSeconds", 86401}}),
              ElementsAre("spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"));
  EXPECT_THAT(
      Errors({{"unverifiedUserAnnotations", json::object{{"a", "b"}}}}),
      ElementsAre("spec.unverifiedUserAnnotations: Invalid value: \"a\": must be a domain-prefixed key (such as "
                  "\"acme.io/foo\")"));
}

json::object Condition(const char* type, const char* status = "True") {
  return {{"conditions",
           json::array{json::object{
               {"type", type}, {"status", status}, {"reason", "R"}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}};
}
json::object With(json::object status, const json::object& fields) {
  for (const auto& [field, value] : fields) status[field] = value;
  return status;
}

TEST(PodCertificateRequest, Status) {
  // The certificate has the key of the request.
  const WallTime now = *meta::ParseTime("2026-11-17T23:47:00Z");
  const std::string chain = credentials::test_requests::kCertificate;
  const auto errors = [now](json::object status, json::object before = {}) {
    return testing::Texts(
        ValidatePodCertificateStatus(Request({}, std::move(status)), Request({}, std::move(before)), now));
  };
  EXPECT_THAT(errors({}), IsEmpty());
  EXPECT_THAT(errors(Condition("Denied")), IsEmpty());
  EXPECT_THAT(errors(Condition("Failed", "False")),
              ElementsAre("status.conditions.[0].status: Unsupported value: \"False\": supported values: \"True\""));
  EXPECT_THAT(errors(Condition("Ready")),
              ElementsAre("status.conditions.[0].type: Unsupported value: \"Ready\": supported values: \"Issued\", "
                          "\"Denied\", \"Failed\""));
  EXPECT_THAT(errors(Condition("Failed"), Condition("Denied")),
              ElementsAre("status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"));
  EXPECT_THAT(
      errors(With(Condition("Denied"), {{"certificateChain", chain}})),
      ElementsAre("status: Invalid value: non-condition status fields must be empty when denying or failing the "
                  "PodCertificateRequest"));
  EXPECT_THAT(errors({{"certificateChain", chain}}),
              ElementsAre("status: Invalid value: status is immutable unless transitioning to \"Issued\", \"Denied\", "
                          "or \"Failed\""));
  EXPECT_THAT(errors(With(Condition("Issued"), {{"certificateChain", "x"}})),
              ElementsAre("status.certificateChain: Invalid value: \"x\": issued certificate chain must contain at "
                          "least one certificate"));
  EXPECT_THAT(
      errors(With(Condition("Issued"), {{"certificateChain", chain}})),
      ElementsAre("status.notBefore: Required value: must be present and consistent with the issued certificate",
                  "status.notAfter: Required value: must be present and consistent with the issued certificate",
                  "status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, "
                  "notafter-10min]"));
  const json::object full = With(Condition("Issued"), {{"certificateChain", chain},
                                                       {"notBefore", "2026-11-17T23:46:54Z"},
                                                       {"notAfter", "2126-10-24T23:46:54Z"},
                                                       {"beginRefreshAt", "2027-01-01T00:00:00Z"}});
  EXPECT_THAT(
      errors(With(full, {{"notBefore", "2026-11-17T23:46:55Z"}})),
      ElementsAre("status.notBefore: Invalid value: \"2026-11-17T23:46:55Z\": must be set to the NotBefore time "
                  "encoded in the leaf certificate"));
  EXPECT_THAT(errors(full), ElementsAre("status.certificateChain: Invalid value: 3153600000000000000: leaf certificate "
                                        "lifetime must be <= spec.maxExpirationSeconds (3600)"));
}

}  // namespace
}  // namespace apimesh::core_api
