#include "services/aggregator/edge/client_identity.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

// URL-encoded PEM with the base64 of "a" and "b" instead of a certificate.
const std::string kA = "-----BEGIN%20CERTIFICATE-----%0AYQ%3D%3D%0A-----END%20CERTIFICATE-----%0A";
const std::string kB = "-----BEGIN%20CERTIFICATE-----%0AYg%3D%3D%0A-----END%20CERTIFICATE-----%0A";

struct XfccCase {
  const char* name;
  std::string header;
  std::vector<std::string> want;
};
const XfccCase kXfccCases[] = {
    {"Empty", "", {}},
    {"Cert", "Hash=1;Cert=\"" + kA + "\"", {"a"}},
    {"TheChainHasTheLeafToo", "Cert=\"" + kA + "\";Chain=\"" + kA + kB + "\"", {"a", "b"}},
    {"OnlyTheLastElementIsOurProxys", "Cert=\"" + kA + "\",Hash=2;Cert=\"" + kB + "\"", {"b"}},
    {"ALastElementWithoutACertificate", "Cert=\"" + kA + "\",Hash=2", {}},
    {"ASubjectMayHaveSeparators", "Subject=\"CN=a;Cert=,x\";Cert=\"" + kB + "\"", {"b"}},
    {"ASubjectMayHaveQuotes", R"(Subject="CN=\"a\";Cert=\"",Cert=",x=";Cert=")" + kB + "\"", {"b"}},
    {"ASubjectMayEndWithABackslash", R"(Subject="CN=a\\";Cert=")" + kB + "\"", {"b"}},
    {"BadEncoding", "Cert=\"%zz\"", {}},
};
class Xfcc : public ::testing::TestWithParam<XfccCase> {};
TEST_P(Xfcc, GivesTheCertificatesOfOurProxy) { EXPECT_EQ(CertificatesOfXfcc(GetParam().header), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, Xfcc, ::testing::ValuesIn(kXfccCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::aggregator
