// A resource whose objects another server converts. The "conversion" of the test writes the color in capitals.
#include <algorithm>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/meta/errors/other_errors.h"
#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/fake_etcd.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct FakeServer {
  std::atomic<bool> down{false};
  std::atomic<int> objects{0}, calls{0};
};

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

Task<meta::Result<std::vector<std::string>>> ReadBy(std::shared_ptr<FakeServer> server,
                                                    std::vector<std::string> stored) {
  ++server->calls;
  co_await SleepFor(std::chrono::milliseconds(1));
  if (server->down) co_return meta::PlainError("the server is down");
  server->objects += static_cast<int>(stored.size());
  for (std::string& text : stored) text = Replaced(std::move(text), "red", "RED");
  co_return stored;
}

Task<meta::Result<std::string>> WriteBy(std::shared_ptr<FakeServer> server, std::string json) {
  co_await SleepFor(std::chrono::milliseconds(1));
  if (server->down) co_return meta::PlainError("the server is down");
  co_return Replaced(std::move(json), "RED", "red");
}

class ConvertedStore : public ::testing::Test {
 protected:
  ConvertedStore() {
    BackendOptions options{.clock = testing::SystemClock()};
    backend_ = NewBackend(etcd_, harness_.Context().get_executor(), options);
    plain_ = backend_->Open(WidgetConfig());
    ResourceConfig config = WidgetConfig();
    auto conversion = std::make_shared<SuspendingConversion>();
    conversion->read = [server = server_](std::vector<std::string> stored) {
      return ReadBy(server, std::move(stored));
    };
    conversion->write = [server = server_](std::string json) { return WriteBy(server, std::move(json)); };
    config.conversion = conversion;
    store_ = backend_->Open(config);
  }
  ~ConvertedStore() override { backend_->Stop(); }

  EntryPtr Create(const StorePtr& store, std::string_view name, std::string_view color) {
    return harness_
        .Await(store->Create(ContextFor(), WidgetKey("ns", name), ParseObject(WidgetJson("ns", name, color)),
                             std::chrono::seconds(0)))
        .value();
  }
  meta::Result<EntryPtr> Get(std::string_view name) {
    return harness_.Await(store_->Get(ContextFor(), WidgetKey("ns", name), {}));
  }
  meta::Result<std::vector<std::string>> Names() {
    auto cursor = harness_.Await(store_->List(ContextFor(), {}));
    if (!cursor) return cursor.error();
    std::vector<std::string> names;
    for (const EntryPtr& entry : (*cursor)->Next(1000)) names.push_back(entry->GetKey().text);
    return names;
  }
  std::unique_ptr<Watcher> Watch(std::string version) {
    WatchOptions options;
    options.resource_version = std::move(version);
    return harness_.Await(store_->Watch(ContextFor(), options)).value();
  }

  Harness harness_;
  std::shared_ptr<testing::FakeEtcd> etcd_ = std::make_shared<testing::FakeEtcd>();
  std::shared_ptr<FakeServer> server_ = std::make_shared<FakeServer>();
  std::shared_ptr<Backend> backend_;
  StorePtr plain_, store_;
};

TEST_F(ConvertedStore, WritesAreStoredConvertedAndReadBack) {
  EXPECT_THAT(Create(store_, "a", "RED")->JsonText(), HasSubstr(R"("color":"RED")"));
  EXPECT_THAT(harness_.Await(plain_->Get(ContextFor(), WidgetKey("ns", "a"), {})).value()->JsonText(),
              HasSubstr(R"("spec":{"color":"red"})"));
  EXPECT_THAT(Get("a").value()->JsonText(), HasSubstr(R"("color":"RED")"));
}

TEST_F(ConvertedStore, ReadsOfUnchangedObjectsDoNotConvert) {
  for (int i = 0; i < 50; ++i) Create(plain_, "w" + std::to_string(i), "red");
  EXPECT_EQ(Names().value().size(), 50u);
  EXPECT_EQ(server_->objects, 50);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Names().value().size(), 50u);
  EXPECT_THAT(Get("w7").value()->JsonText(), HasSubstr("RED"));
  EXPECT_EQ(server_->objects, 50);
}

TEST_F(ConvertedStore, AnUpdateThatChangesNothingIsNotWritten) {
  const Revision before = Create(store_, "a", "RED")->ModRevision();
  const Store::UpdateFn same = [](const meta::Object* current) -> Task<meta::Result<std::optional<Store::Update>>> {
    co_return std::optional<Store::Update>(Store::Update{*current});
  };
  const auto updated =
      harness_.Await(store_->GuaranteedUpdate(ContextFor(), WidgetKey("ns", "a"), {}, false, same)).value();
  EXPECT_EQ(updated.entry->ModRevision(), before);
}

TEST_F(ConvertedStore, ADryRunShowsWhatAReaderWouldSee) {
  // The conversion writes every color in capitals, as a reader sees it; nothing is stored.
  const auto seen = harness_.Await(store_->AsRead(ParseObject(WidgetJson("ns", "a", "red")))).value();
  EXPECT_EQ(meta::FindString(seen.Root(), "spec", "color"), "RED");
  EXPECT_EQ(Get("a").error().Code(), 404);
  const auto plain = harness_.Await(plain_->AsRead(ParseObject(WidgetJson("ns", "a", "red")))).value();
  EXPECT_EQ(meta::FindString(plain.Root(), "spec", "color"), "red");
}

TEST_F(ConvertedStore, ObjectsInAnotherStorageVersionAreWrittenAgain) {
  const Store::UpdateFn same = [](const meta::Object* current) -> Task<meta::Result<std::optional<Store::Update>>> {
    co_return std::optional<Store::Update>(Store::Update{*current});
  };
  const Revision before = Create(plain_, "a", "red")->ModRevision();
  ResourceConfig config = WidgetConfig();
  config.stored_api_version = "example.com/v2";
  config.to_stored = [](std::string json) -> meta::Result<std::string> {
    return Replaced(std::move(json), "example.com/v1", "example.com/v2");
  };
  config.to_json = [](std::string_view stored) -> meta::Result<std::string> {
    return Replaced(std::string(stored), "example.com/v2", "example.com/v1");
  };
  const StorePtr next = backend_->Open(config);
  const auto touch = [&] {
    return harness_.Await(next->GuaranteedUpdate(ContextFor(), WidgetKey("ns", "a"), {}, false, same))
        .value()
        .entry->ModRevision();
  };
  const Revision moved = touch();
  EXPECT_GT(moved, before);
  EXPECT_EQ(touch(), moved);
}

TEST_F(ConvertedStore, WhileTheServerIsDownUnchangedObjectsCanBeRead) {
  Create(plain_, "a", "red");
  ASSERT_TRUE(Get("a"));
  server_->down = true;
  Create(plain_, "b", "red");
  EXPECT_EQ(Get("b").error().Message(), "the server is down");
  EXPECT_EQ(Get("b").error().Code(), 500);
  EXPECT_EQ(Names().error().Message(), "the server is down");
  EXPECT_THAT(Get("a").value()->JsonText(), HasSubstr("RED"));
  EXPECT_EQ(harness_.Await(store_->Watch(ContextFor(), {})).error().Code(), 429);
  const auto refused = harness_.Await(store_->Create(
      ContextFor(), WidgetKey("ns", "c"), ParseObject(WidgetJson("ns", "c", "RED")), std::chrono::seconds(0)));
  EXPECT_EQ(refused.error().Message(), "the server is down");
  EXPECT_EQ(harness_.Await(plain_->Get(ContextFor(), WidgetKey("ns", "c"), {})).error().Code(), 404);
  server_->down = false;
  EXPECT_THAT(Names().value(), ElementsAre("ns/a", "ns/b"));
  EXPECT_EQ(server_->objects >= 2, true);
}

TEST_F(ConvertedStore, AWatchThatFailuresEndedIsResumedWithoutLossOrRepetition) {
  const Revision first = Create(plain_, "first", "red")->ModRevision();
  ASSERT_TRUE(Get("first"));
  std::vector<std::string> seen;
  Revision last = first;
  for (int i = 0; i < 30; ++i) {
    server_->down = i % 10 == 5;
    Create(plain_, fmt::format("w{:02}", i), "red");
    if (i % 10 == 6) server_->down = false;
  }
  server_->down = false;
  while (seen.size() < 30) {
    std::unique_ptr<Watcher> watcher;
    const auto open = [&] {
      auto opened = harness_.Await(store_->Watch(ContextFor(), WatchOptions{.resource_version = std::to_string(last)}));
      if (opened) {
        watcher = std::move(*opened);
      } else {
        EXPECT_EQ(opened.error().Code(), 429);
      }
      return watcher != nullptr;
    };
    ASSERT_TRUE(testing::Eventually(open));
    while (seen.size() < 30) {
      const std::vector<Event> events = harness_.Await(watcher->Next());
      if (events.empty()) break;
      for (const Event& event : events) {
        if (event.type != Event::Type::kAdded) continue;
        EXPECT_THAT(event.object->JsonText(), HasSubstr("RED"));
        seen.push_back(event.object->GetKey().text);
        last = event.revision;
      }
    }
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 30; ++i) expected.push_back(fmt::format("ns/w{:02}", i));
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace apimesh::storage
