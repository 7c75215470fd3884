#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/etcd_process.h"
#include "lib/testing/fake_etcd.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {

using apimesh::testing::EtcdProcess;
using apimesh::testing::FakeEtcd;

/// A Store of widgets. The suite runs for every configuration of a Store: on the fake etcd (with and without
/// trustworthy progress notifications) and on a real etcd.
class StoreContract : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().starts_with("Fake")) {
      auto fake = std::make_shared<FakeEtcd>();
      fake->SetProgressSafe(GetParam() != "FakeWithoutProgress");
      client_ = fake;
    } else {
      etcd::ClientOptions options{.clock = testing::SystemClock()};
      etcd_ = std::make_unique<EtcdProcess>();
      options.endpoints = {etcd_->Endpoint()};
      client_ = etcd::NewClient(options);
    }
    BackendOptions options{.clock = testing::SystemClock()};
    options.bookmark_interval = std::chrono::milliseconds(300);
    options.list_page = 3;
    backend_ = NewBackend(client_, harness_.Context().get_executor(), options);
    store_ = backend_->Open(WidgetConfig());
  }
  void TearDown() override {
    if (backend_) backend_->Stop();
  }

  EntryPtr Create(std::string_view ns, std::string_view name, std::string_view color) {
    return harness_
        .Await(store_->Create(ContextFor(), WidgetKey(ns, name), ParseObject(WidgetJson(ns, name, color)),
                              std::chrono::seconds(0)))
        .value();
  }
  meta::Result<EntryPtr> Get(std::string_view ns, std::string_view name, std::string version = "") {
    GetOptions options;
    options.resource_version = std::move(version);
    return harness_.Await(store_->Get(ContextFor(), WidgetKey(ns, name), options));
  }
  meta::Result<Store::UpdateResult> Recolor(std::string_view ns, std::string_view name, std::string color,
                                            Preconditions preconditions = {}) {
    auto update = [color](const meta::Object* current) -> Task<meta::Result<std::optional<Store::Update>>> {
      Store::Update result;
      result.object = *current;
      result.object.Root()["spec"].as_object()["color"] = color;
      result.object.Metadata()["labels"].as_object()["color"] = color;
      co_return std::optional<Store::Update>(std::move(result));
    };
    return harness_.Await(store_->GuaranteedUpdate(ContextFor(), WidgetKey(ns, name), preconditions, false, update));
  }
  EntryPtr Delete(std::string_view ns, std::string_view name) {
    return harness_.Await(store_->Delete(ContextFor(), WidgetKey(ns, name), {}, nullptr)).value();
  }
  struct Page {
    std::vector<std::string> names;
    Revision at = 0;
    std::string token;
    std::optional<std::int64_t> remaining;
  };
  meta::Result<Page> List(ListOptions options) {
    auto cursor = harness_.Await(store_->List(ContextFor(), std::move(options)));
    if (!cursor) return cursor.error();
    Page page;
    page.at = (*cursor)->At();
    for (;;) {
      const auto items = (*cursor)->Next(2);
      if (items.empty()) break;
      for (const EntryPtr& item : items) page.names.push_back(item->GetKey().text);
    }
    page.token = (*cursor)->ContinueToken();
    page.remaining = (*cursor)->Remaining();
    return page;
  }
  std::unique_ptr<Watcher> Watch(WatchOptions options) {
    return std::move(harness_.Await(store_->Watch(ContextFor(), std::move(options))).value());
  }
  /// Returns the next `count` events without bookmarks, as "ADDED ns/name color".
  std::vector<std::string> Events(Watcher& watcher, std::size_t count) {
    static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    std::vector<std::string> seen;
    while (seen.size() < count) {
      const std::vector<Event> events = harness_.Await(watcher.Next());
      if (events.empty()) return seen.push_back("OVER"), seen;
      for (const Event& event : events) {
        if (event.type == Event::Type::kBookmark && !event.initial_events_end) continue;
        std::string text = kNames[static_cast<int>(event.type)];
        if (event.object)
          text += " " + event.object->GetKey().text + " " + std::string(event.object->FieldValue("spec.color"));
        if (event.initial_events_end) text += " end";
        if (event.type == Event::Type::kError) text += " " + std::to_string(event.error.Code());
        seen.push_back(text);
      }
    }
    return seen;
  }
  std::string ResourceVersion(const EntryPtr& entry) { return std::to_string(entry->ModRevision()); }

  Harness harness_;
  std::unique_ptr<EtcdProcess> etcd_;
  std::shared_ptr<etcd::Client> client_;
  std::shared_ptr<Backend> backend_;
  StorePtr store_;
};

}  // namespace apimesh::storage
