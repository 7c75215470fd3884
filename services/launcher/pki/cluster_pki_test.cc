#include "services/launcher/pki/cluster_pki.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/launcher/pki/certificate.h"

namespace apimesh::launcher {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ClusterPkiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/apimesh-pki-XXXXXX";
    folder_ = ::mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(ClusterPkiTest, MakesEverythingOnceAndKeepsIt) {
  const ClusterPki pki(folder_);
  EXPECT_THAT(pki.Ensure({"10.0.0.7"}),
              UnorderedElementsAre("ca", "front-proxy-ca", "apiserver", "admin", "front-proxy-client", "sa"));
  EXPECT_THAT(pki.Ensure({"10.0.0.7"}), IsEmpty());
  EXPECT_GT(RemainingLife(ReadFile(pki.Path("apiserver.crt"))), 0.99);
}

TEST_F(ClusterPkiTest, KeysAreForTheOwnerOnly) {
  const ClusterPki pki(folder_);
  pki.Ensure({});
  for (const char* key : {"ca.key", "apiserver.key", "sa.key", "front-proxy-client.key"}) {
    EXPECT_EQ(std::filesystem::status(pki.Path(key)).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << key;
  }
}

TEST_F(ClusterPkiTest, RenewsLeavesNearTheirEndAndNeverAuthorities) {
  const ClusterPki pki(folder_);
  pki.Ensure({});
  const std::string authority = ReadFile(pki.Path("ca.crt"));
  // This certificate has no lifetime left.
  const CertifiedKey signer{authority, ReadFile(pki.Path("ca.key"))};
  const CertifiedKey old =
      NewCertificate({.common_name = "old", .client_auth = true, .lifetime = std::chrono::hours(0)}, signer);
  WriteFile(pki.Path("admin.crt"), old.certificate_pem, false);
  EXPECT_THAT(pki.Ensure({}), UnorderedElementsAre("admin"));
  EXPECT_EQ(ReadFile(pki.Path("ca.crt")), authority);
}

TEST_F(ClusterPkiTest, SelfSignedPairIsMadeOnlyIfMissing) {
  const auto [certificate, key] = EnsureSelfSigned(folder_, {"192.0.2.1"});
  const std::string first = ReadFile(certificate);
  EnsureSelfSigned(folder_, {"192.0.2.1"});
  EXPECT_EQ(ReadFile(certificate), first);
  EXPECT_FALSE(ReadFile(key).empty());
}

TEST(RemainingLife, IsZeroForWhatIsNoCertificate) { EXPECT_EQ(RemainingLife("nonsense"), 0); }

}  // namespace
}  // namespace apimesh::launcher
