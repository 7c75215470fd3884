#include "services/core-api/groups/core/secret/key_pair.h"

#include <gtest/gtest.h>

namespace apimesh::core_api {
namespace {

constexpr const char* kKey =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE "
    "KEY-----\n";

TEST(CheckKeyPair, HasTheTextsOfGo) {
  EXPECT_EQ(CheckKeyPair("", ""), "tls: failed to find any PEM data in certificate input");
  EXPECT_EQ(CheckKeyPair(kKey, kKey),
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may "
            "have been switched");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(CheckKeyPair(certificate, "x"), "tls: failed to find any PEM data in key input");
  EXPECT_EQ(CheckKeyPair(certificate, certificate),
            "tls: found a certificate rather than a key in the PEM for the private key");
  EXPECT_EQ(CheckKeyPair(certificate, kKey), "x509: malformed certificate");
}

}  // namespace
}  // namespace apimesh::core_api
