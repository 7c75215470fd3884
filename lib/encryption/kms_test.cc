#include "lib/encryption/kms.h"

#include <gmock/gmock.h>

#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"
#include "proto/kms/v2/kms.pb.h"

namespace apimesh::encryption {
namespace {

using ::testing::HasSubstr;
using testing::RunTask;

/// A plugin that "encrypts" by inverting bytes.
class FakePlugin final : public KmsService {
 public:
  Status status{"v2", "ok", "key-1"};
  bool down = false;
  int encrypts = 0, decrypts = 0;

  Task<Result<Status>> GetStatus() override {
    if (down) co_return Fail("down", true);
    co_return status;
  }
  Task<Result<Encrypted>> Encrypt(std::string, std::string plaintext) override {
    if (down) co_return Fail("down", true);
    ++encrypts;
    Encrypted encrypted{std::string(plaintext.rbegin(), plaintext.rend()), status.key_id};
    encrypted.annotations["local-kek.example.com"] = "k";
    co_return encrypted;
  }
  Task<Result<std::string>> Decrypt(std::string, Encrypted encrypted) override {
    if (down) co_return Fail("down", true);
    ++decrypts;
    if (encrypted.annotations["local-kek.example.com"] != "k") co_return Fail("no such local KEK");
    co_return std::string(encrypted.ciphertext.rbegin(), encrypted.ciphertext.rend());
  }
};

class KmsTest : public ::testing::Test {
 protected:
  std::shared_ptr<Kms> NewKms() { return std::make_shared<Kms>("plugin", plugin_, clock_); }
  std::shared_ptr<FakePlugin> plugin_ = std::make_shared<FakePlugin>();
  testing::ManualClock clock_;
};

TEST_F(KmsTest, OneSeedForManyValues) {
  const auto kms = NewKms();
  EXPECT_FALSE(kms->Seal("{}", "/k"));
  ASSERT_TRUE(RunTask(kms->PrepareSeal()));
  const std::string a = *kms->Seal("{}", "/a"), b = *kms->Seal("{}", "/b");
  EXPECT_FALSE(kms->NeedsKeyFetch(a));
  EXPECT_EQ(kms->Open(a, "/a")->plain, "{}");
  EXPECT_EQ(kms->Open(b, "/b")->plain, "{}");
  EXPECT_FALSE(kms->Open(a, "/b"));
  EXPECT_EQ(plugin_->encrypts, 1);
  EXPECT_EQ(plugin_->decrypts, 0);
  v2::EncryptedObject object;
  ASSERT_TRUE(object.ParseFromString(a));
  EXPECT_EQ(object.keyid(), "key-1");
  EXPECT_EQ(object.encrypteddeksourcetype(), v2::HKDF_SHA256_XNONCE_AES_GCM_SEED);
}

TEST_F(KmsTest, AnotherServerFetchesTheSeedOnce) {
  const auto writer = NewKms(), reader = NewKms();
  ASSERT_TRUE(RunTask(writer->Check()));
  const std::string a = *writer->Seal("{}", "/a"), b = *writer->Seal("{}", "/b");
  EXPECT_TRUE(reader->NeedsKeyFetch(a));
  ASSERT_TRUE(RunTask(reader->FetchKey(a)));
  EXPECT_FALSE(reader->NeedsKeyFetch(b));
  EXPECT_EQ(reader->Open(b, "/b")->plain, "{}");
  EXPECT_EQ(plugin_->decrypts, 1);
}

TEST_F(KmsTest, ANewKeyIdTakesANewSeed) {
  const auto kms = NewKms();
  ASSERT_TRUE(RunTask(kms->Check()));
  const std::string old = *kms->Seal("{}", "/a");
  EXPECT_FALSE(kms->Open(old, "/a")->stale);
  plugin_->status.key_id = "key-2";
  ASSERT_TRUE(RunTask(kms->Check()));
  EXPECT_EQ(plugin_->encrypts, 2);
  EXPECT_TRUE(kms->Open(old, "/a")->stale);
  EXPECT_FALSE(kms->Open(*kms->Seal("{}", "/a"), "/a")->stale);
}

TEST_F(KmsTest, WritesFailThreeMinutesAfterThePluginAndReadsContinue) {
  const auto kms = NewKms();
  ASSERT_TRUE(RunTask(kms->Check()));
  const std::string stored = *kms->Seal("{}", "/a");
  plugin_->down = true;
  clock_.Advance(std::chrono::minutes(2));
  EXPECT_FALSE(RunTask(kms->Check()));
  EXPECT_THAT(kms->Problem(), HasSubstr("failed to perform status section"));
  EXPECT_TRUE(kms->Seal("{}", "/a"));
  clock_.Advance(std::chrono::minutes(2));
  EXPECT_THAT(kms->Seal("{}", "/a").error().message, HasSubstr("expired"));
  EXPECT_EQ(kms->Open(stored, "/a")->plain, "{}");
  plugin_->down = false;
  ASSERT_TRUE(RunTask(kms->Check()));
  EXPECT_TRUE(kms->Seal("{}", "/a"));
  EXPECT_EQ(plugin_->encrypts, 1) << "the same key id keeps its seed";
}

TEST_F(KmsTest, UnreachableIsTemporaryAndRefusedIsNot) {
  const auto writer = NewKms(), reader = NewKms();
  ASSERT_TRUE(RunTask(writer->Check()));
  std::string stored = *writer->Seal("{}", "/a");
  plugin_->down = true;
  EXPECT_TRUE(RunTask(reader->FetchKey(stored)).error().temporary);
  plugin_->down = false;
  v2::EncryptedObject object;
  object.ParseFromString(stored);
  object.clear_annotations();
  EXPECT_FALSE(RunTask(reader->FetchKey(object.SerializeAsString())).error().temporary);
}

TEST_F(KmsTest, AnUnhealthyPluginIsReported) {
  const auto kms = NewKms();
  plugin_->status.healthz = "no HSM";
  EXPECT_THAT(RunTask(kms->Check()).error().message,
              HasSubstr("kmsv2 Provider plugin is not healthy, error: got unexpected healthz status: no HSM"));
  plugin_->status = {"v1", "ok", "key-1"};
  EXPECT_THAT(RunTask(kms->Check()).error().message, HasSubstr("expected KMSv2 API version v2, got v1"));
}

TEST_F(KmsTest, DetectsEveryFlippedBitOfTheData) {
  const auto kms = NewKms();
  ASSERT_TRUE(RunTask(kms->Check()));
  const std::string stored = *kms->Seal("{}", "/a");
  for (std::size_t bit = 0; bit < stored.size() * 8; ++bit) {
    std::string flipped = stored;
    flipped[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    const auto opened = kms->Open(flipped, "/a");
    // Some bits of the wire format are redundant (an unknown field). A value that can be opened must be the correct
    // one.
    EXPECT_TRUE(!opened || opened->plain == "{}") << bit;
  }
}

}  // namespace
}  // namespace apimesh::encryption
