#include "lib/credentials/certificate_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/credentials/test_requests.h"

namespace apimesh::credentials {
namespace {

using test_requests::kCertificate;
using test_requests::kDevs;
using test_requests::kMasters;

TEST(CertificateRequest, SubjectAndSignature) {
  const meta::Result<CertificateRequest> devs = ParseCertificateRequest(kDevs);
  ASSERT_TRUE(devs) << devs.error().Message();
  EXPECT_THAT(devs->organizations, ::testing::ElementsAre("devs"));
  EXPECT_EQ(devs->common_name, "jane");
  EXPECT_TRUE(VerifyCertificateRequest(kDevs));
  const meta::Result<CertificateRequest> masters =
      ParseCertificateRequest(std::string("Certificate Request:\r\n") + kMasters + "\ntext");
  ASSERT_TRUE(masters) << masters.error().Message();
  EXPECT_FALSE(ParseCertificateRequest(std::string(kDevs) + kMasters));
  EXPECT_THAT(masters->organizations, ::testing::ElementsAre("devs", "system:masters"));
}

struct Case {
  const char* name;
  std::string pem;
  const char* want;
};
std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
constexpr const char* kBlock = "PEM block type must be CERTIFICATE REQUEST";
const Case kCases[] = {
    {"Empty", "", kBlock},
    {"NoPem", "hello", kBlock},
    {"Certificate", kCertificate, kBlock},
    {"OtherType", Replaced(kDevs, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"), kBlock},
    // With two blocks, a reader of the first and a reader of the last block would find different subjects.
    {"TwoRequests", std::string(kDevs) + kMasters, kBlock},
    {"RequestThenCertificate", std::string(kDevs) + kCertificate, kBlock},
    {"BlockInsideBlock", std::string("-----BEGIN CERTIFICATE REQUEST-----\n") + kMasters, kBlock},
    {"IndentedFirstBlock", std::string(" ") + kDevs + kMasters, kBlock},
    {"BeginInMidLine", std::string("x") + kMasters, kBlock},
    {"NoEnd", std::string(kDevs).substr(0, 100), kBlock},
    {"EndOfOtherType", Replaced(kDevs, "END CERTIFICATE REQUEST", "END CERTIFICATE"), kBlock},
    {"Headers", Replaced(kDevs, "REQUEST-----\nM", "REQUEST-----\nProc-Type: 4\n\nM"), kBlock},
    {"BadBase64", Replaced(kDevs, "MIH", "M!H"), kBlock},
    {"NoRequestInside", "-----BEGIN CERTIFICATE REQUEST-----\naGVsbG8=\n-----END CERTIFICATE REQUEST-----\n",
     "x509: malformed certificate request"},
    {"TrailingData", test_requests::kTrailingData, "asn1: syntax error: trailing data"},
    {"ForgedSignature", test_requests::kForgedSignature, "x509: ECDSA verification failure"},
    {"Md5", test_requests::kMd5, "x509: cannot verify signature: insecure algorithm MD5-RSA"},
    {"ExplicitCurve", test_requests::kExplicitCurve, "x509: cannot verify signature: algorithm unimplemented"},
};
class BadRequests : public ::testing::TestWithParam<Case> {};
TEST_P(BadRequests, AreRefused) {
  const meta::Result<> verified = VerifyCertificateRequest(GetParam().pem);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().Message(), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, BadRequests, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Certificates, Checked) {
  EXPECT_TRUE(CheckCertificates(kCertificate));
  EXPECT_TRUE(CheckCertificates(std::string("issued by x\n") + kCertificate + kCertificate));
  EXPECT_EQ(CheckCertificates("hello").error().Message(), "must contain at least one CERTIFICATE PEM block");
  EXPECT_EQ(CheckCertificates(kDevs).error().Message(),
            "only CERTIFICATE PEM blocks are allowed, found \"CERTIFICATE REQUEST\"");
  EXPECT_EQ(
      CheckCertificates(Replaced(kCertificate, "CERTIFICATE-----\nM", "CERTIFICATE-----\na: b\n\nM")).error().Message(),
      "no PEM block headers are permitted");
  EXPECT_EQ(CheckCertificates("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n").error().Message(),
            "x509: malformed certificate");
}

}  // namespace
}  // namespace apimesh::credentials
