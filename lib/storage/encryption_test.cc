// Encrypted objects, some of which cannot be read. The fake etcd allows the test to corrupt values.
#include "lib/encryption/encryption.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/fake_etcd.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kPrefix = "/registry/example.com/widgets/";
constexpr const char* kFirst = "{name: k1, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}";
constexpr const char* kSecond = "{name: k2, secret: ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=}";

class EncryptedStore : public ::testing::Test {
 protected:
  EncryptedStore() {
    WriteFile(kFirst);
    encryption::Options options{.clock = testing::SystemClock()};
    options.file = file_;
    options.reload = true;
    options.poll = std::chrono::milliseconds(20);
    encryption_ = *encryption::Encryption::Start(options, harness_.Context().get_executor());
    BackendOptions backend{.clock = testing::SystemClock()};
    backend.encryption = encryption_;
    backend_ = NewBackend(etcd_, harness_.Context().get_executor(), backend);
    store_ = backend_->Open(WidgetConfig());
  }
  ~EncryptedStore() override {
    encryption_->Stop();
    backend_->Stop();
    std::remove(file_.c_str());
  }

  void WriteFile(const std::string& keys) {
    std::ofstream file(file_ + ".new");
    file << "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: "
            "[widgets.example.com]\n"
         << "  providers: [{aesgcm: {keys: [" << keys << "]}}]\n";
    file.close();
    std::rename((file_ + ".new").c_str(), file_.c_str());
  }
  EntryPtr Create(std::string_view name) {
    return harness_
        .Await(store_->Create(ContextFor(), WidgetKey("ns", name), ParseObject(WidgetJson("ns", name, "red")),
                              std::chrono::seconds(0)))
        .value();
  }
  meta::Result<EntryPtr> Get(std::string_view name) {
    return harness_.Await(store_->Get(ContextFor(), WidgetKey("ns", name), {}));
  }
  std::vector<std::string> Names(std::vector<std::string>* warnings = nullptr) {
    const meta::RequestContext ctx = ContextFor();
    const auto cursor = harness_.Await(store_->List(ctx, {})).value();
    std::vector<std::string> names;
    for (const EntryPtr& entry : cursor->Next(100)) names.push_back(entry->GetKey().text);
    if (warnings) *warnings = ctx.Warnings();
    return names;
  }
  std::string Stored(const std::string& name) {
    const auto range = harness_.Await(etcd_->Range(kPrefix + ("ns/" + name), {}));
    return range->kvs.empty() ? "" : range->kvs[0].value;
  }
  /// An update that changes nothing.
  Revision Touch(std::string_view name) {
    auto same = [](const meta::Object* current) -> Task<meta::Result<std::optional<Store::Update>>> {
      Store::Update update;
      update.object = *current;
      co_return std::optional<Store::Update>(std::move(update));
    };
    return harness_.Await(store_->GuaranteedUpdate(ContextFor(), WidgetKey("ns", name), {}, false, same))
        .value()
        .entry->ModRevision();
  }
  void FlipABit(const std::string& name) {
    std::string value = Stored(name);
    value.back() ^= 1;
    etcd_->Set(kPrefix + ("ns/" + name), value);
  }
  /// Waits until the reloaded configuration is active, that is, until new values begin with `prefix`.
  void WaitForKey(const std::string& key) {
    int probes = 0;
    const auto reached = [&] {
      const std::string name = fmt::format("probe{}", probes++);
      Create(name);
      const bool uses_key = Stored(name).starts_with("k8s:enc:aesgcm:v1:" + key);
      harness_.Await(store_->Delete(ContextFor(), WidgetKey("ns", name), {}, nullptr)).value();
      return uses_key;
    };
    ASSERT_TRUE(testing::Eventually(reached)) << "the file was not reloaded";
  }

  const std::string file_ = fmt::format("{}/apimesh-encryption-{}-{}.yaml", ::testing::TempDir(), ::getpid(),
                                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Harness harness_;
  std::shared_ptr<apimesh::testing::FakeEtcd> etcd_ = std::make_shared<apimesh::testing::FakeEtcd>();
  std::shared_ptr<encryption::Encryption> encryption_;
  std::shared_ptr<Backend> backend_;
  StorePtr store_;
};

TEST_F(EncryptedStore, EtcdHoldsNoPlainText) {
  Create("a");
  EXPECT_THAT(Stored("a"), StartsWith("k8s:enc:aesgcm:v1:k1:"));
  EXPECT_THAT(Stored("a"), ::testing::Not(HasSubstr("Widget")));
  EXPECT_THAT((*Get("a"))->Json().View(), HasSubstr("\"color\":\"red\""));
}

TEST_F(EncryptedStore, ACorruptedValueIsAnErrorAndOmittedFromLists) {
  Create("a");
  Create("b");
  FlipABit("a");
  const auto got = Get("a");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().Code(), 500);
  EXPECT_THAT(got.error().Message(), HasSubstr("unable to transform key \"/registry/example.com/widgets/ns/a\""));
  std::vector<std::string> warnings;
  EXPECT_THAT(Names(&warnings), ElementsAre("ns/b"));
  EXPECT_THAT(warnings, ElementsAre("1 stored object(s) cannot be read and are missing from this list: ns/a"));
}

TEST_F(EncryptedStore, AValueMovedToAnotherKeyIsNotRead) {
  Create("a");
  etcd_->Set(kPrefix + std::string("ns/c"), Stored("a"));
  EXPECT_FALSE(Get("c"));
  EXPECT_THAT(Names(), ElementsAre("ns/a"));
}

TEST_F(EncryptedStore, UnreadableObjectsAreDeletedOnlyOnRequest) {
  Create("a");
  Create("b");
  FlipABit("a");
  const auto refused = harness_.Await(store_->Delete(ContextFor(), WidgetKey("ns", "a"), {}, nullptr));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().Message(), HasSubstr("ns/a"));
  EXPECT_NE(Stored("a"), "");
  EXPECT_EQ(harness_.Await(store_->DeleteUnreadable(ContextFor(), WidgetKey("ns", "b"))).error().Code(), 422);
  EXPECT_TRUE(harness_.Await(store_->DeleteUnreadable(ContextFor(), WidgetKey("ns", "a"))));
  EXPECT_EQ(Stored("a"), "");
  EXPECT_EQ(harness_.Await(store_->DeleteUnreadable(ContextFor(), WidgetKey("ns", "a"))).error().Code(), 404);
  std::vector<std::string> warnings;
  EXPECT_THAT(Names(&warnings), ElementsAre("ns/b"));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(EncryptedStore, AReloadRotatesKeysAndAnUpdateThatChangesNothingRewrites) {
  const Revision created = Create("a")->ModRevision();
  EXPECT_EQ(Touch("a"), created);
  WriteFile(std::string(kSecond) + ", " + kFirst);
  WaitForKey("k2");
  EXPECT_THAT(Stored("a"), StartsWith("k8s:enc:aesgcm:v1:k1:"));
  EXPECT_TRUE(Get("a"));
  const Revision rewritten = Touch("a");
  EXPECT_GT(rewritten, created);
  EXPECT_THAT(Stored("a"), StartsWith("k8s:enc:aesgcm:v1:k2:"));
  EXPECT_EQ(Touch("a"), rewritten);
}

TEST_F(EncryptedStore, ObjectsMayBecomeReadableAfterAReload) {
  Create("a");
  WriteFile(kSecond);  // the first key is lost
  WaitForKey("k2");
  etcd_->Set(kPrefix + std::string("ns/a"), Stored("a"));
  EXPECT_FALSE(Get("a"));
  EXPECT_THAT(Names(), IsEmpty());
  WriteFile(std::string(kFirst) + ", " + kSecond);
  WaitForKey("k1");
  EXPECT_TRUE(testing::Eventually([this] { return !Names().empty(); }));
  EXPECT_THAT(Names(), ElementsAre("ns/a"));
  EXPECT_TRUE(Get("a"));
}

TEST_F(EncryptedStore, AnInvalidFileIsIgnored) {
  WriteFile("{name: k3, secret: YWJj}");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the file is checked several times meanwhile
  Create("a");
  EXPECT_THAT(Stored("a"), StartsWith("k8s:enc:aesgcm:v1:k1:"));
}

}  // namespace
}  // namespace apimesh::storage
