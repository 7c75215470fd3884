#include "lib/base/secrets/one_time_secrets.h"

#include <chrono>
#include <cstdlib>
#include <iterator>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

namespace fs = std::filesystem;

class OneTimeSecretsTest : public ::testing::Test {
 protected:
  ~OneTimeSecretsTest() override { fs::remove_all(folder_); }

  /// The time that the file system gives to new files.
  WallTime Now() const { return Clock::System().Now(); }

  static fs::path NewFolder() {
    std::string pattern = ::testing::TempDir() + "one-time-XXXXXX";
    return ::mkdtemp(pattern.data());
  }

  const fs::path folder_ = NewFolder();
  OneTimeSecrets secrets_{folder_ / "logins", std::chrono::minutes(10)};
};

TEST_F(OneTimeSecretsTest, CanBeRedeemedOnce) {
  const std::string secret = secrets_.Issue(Now());
  EXPECT_EQ(secret.size(), 64u);
  EXPECT_TRUE(secrets_.Redeem(secret, Now()));
  EXPECT_FALSE(secrets_.Redeem(secret, Now()));
}

TEST_F(OneTimeSecretsTest, RefusesWhatWasNotIssued) {
  const std::string secret = secrets_.Issue(Now());
  for (const std::string& other : {std::string(), std::string(64, '0'), secret.substr(1), secret + "0",
                                   std::string("../logins"), std::string(100'000, 'a')})
    EXPECT_FALSE(secrets_.Redeem(other, Now())) << other.substr(0, 80);
  EXPECT_TRUE(secrets_.Redeem(secret, Now()));
}

TEST_F(OneTimeSecretsTest, TheFolderDoesNotDiscloseSecrets) {
  const std::string secret = secrets_.Issue(Now());
  EXPECT_EQ(fs::status(folder_ / "logins").permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folder_ / "logins")) {
    EXPECT_NE(entry.path().filename(), secret);
    EXPECT_EQ(entry.file_size(), 0u);
    EXPECT_FALSE(secrets_.Redeem(entry.path().filename().string(), Now()));
  }
}

TEST_F(OneTimeSecretsTest, ExpireAndAreRemoved) {
  const std::string secret = secrets_.Issue(Now());
  EXPECT_FALSE(secrets_.Redeem(secret, Now() + std::chrono::minutes(11)));
  secrets_.Issue(Now());
  secrets_.Issue(Now() + std::chrono::minutes(11));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "logins"), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace apimesh
