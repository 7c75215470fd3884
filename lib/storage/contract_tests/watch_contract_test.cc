#include <gmock/gmock.h>

#include "lib/storage/contract_tests/test_store.h"

namespace apimesh::storage {
namespace {

using ::testing::ElementsAre;

TEST_P(StoreContract, WatchesInOrder) {
  const EntryPtr a = Create("ns", "a", "red");
  WatchOptions options;
  options.resource_version = ResourceVersion(a);
  auto later = Watch(options);
  Recolor("ns", "a", "blue");
  Create("other", "b", "red");
  Delete("ns", "a");
  EXPECT_THAT(Events(*later, 3), ElementsAre("MODIFIED ns/a blue", "ADDED other/b red", "DELETED ns/a blue"));

  options.resource_version = "";
  auto now = Watch(options);
  EXPECT_THAT(Events(*now, 1), ElementsAre("ADDED other/b red"));
  options.send_initial_events = true;
  options.allow_bookmarks = true;
  auto initial = Watch(options);
  EXPECT_THAT(Events(*initial, 2), ElementsAre("ADDED other/b red", "BOOKMARK end"));

  WatchOptions selected;
  selected.resource_version = ResourceVersion(a);
  selected.labels = meta::LabelSelector::Parse("color=red").value();
  auto red = Watch(selected);
  EXPECT_THAT(Events(*red, 2), ElementsAre("DELETED ns/a red", "ADDED other/b red"));
  selected.ns = "other";
  auto in_namespace = Watch(selected);
  EXPECT_THAT(Events(*in_namespace, 1), ElementsAre("ADDED other/b red"));
  in_namespace->Stop();
  EXPECT_THAT(Events(*in_namespace, 1), ElementsAre("OVER"));
}

TEST_P(StoreContract, WatchesFromTheFutureEndInAnError) {
  Create("ns", "a", "red");
  WatchOptions options;
  options.resource_version = "999999999";
  EXPECT_THAT(Events(*Watch(options), 1), ElementsAre("ERROR 410"));
  options.send_initial_events = true;
  EXPECT_THAT(Events(*Watch(options), 1), ElementsAre("ERROR 504"));
}

TEST_P(StoreContract, MarksWhenAWatchHasCaughtUp) {
  const EntryPtr a = Create("ns", "a", "red");
  const EntryPtr b = Create("ns", "b", "red");
  ASSERT_TRUE(Get("ns", "b"));  // Now the cache has seen "b". A watch starts at the cache's revision, not at etcd's.
  WatchOptions options;
  options.mark_initial_events_end = true;
  options.resource_version = ResourceVersion(a);
  auto later = Watch(options);
  EXPECT_THAT(Events(*later, 2), ElementsAre("ADDED ns/b red", "BOOKMARK end"));
  Create("ns", "c", "red");
  EXPECT_THAT(Events(*later, 1), ElementsAre("ADDED ns/c red")) << "delivered once";
  options.resource_version = "";
  auto present = Watch(options);
  EXPECT_THAT(Events(*present, 4), ElementsAre("ADDED ns/a red", "ADDED ns/b red", "ADDED ns/c red", "BOOKMARK end"));
  options.send_initial_events = false;
  options.ns = "quiet";
  options.resource_version = ResourceVersion(b);
  auto quiet = Watch(options);
  const std::vector<Event> bookmark = harness_.Await(quiet->Next());
  ASSERT_EQ(bookmark.size(), 1u);
  EXPECT_TRUE(bookmark[0].initial_events_end);
  EXPECT_GE(bookmark[0].revision, b->ModRevision());
}

TEST_P(StoreContract, SendsBookmarks) {
  WatchOptions options;
  options.resource_version = "0";
  options.allow_bookmarks = true;
  options.ns = "quiet";
  auto watcher = Watch(options);
  const EntryPtr last = Create("ns", "a", "red");
  Revision reached = 0;
  while (reached < last->ModRevision()) {
    const auto events = harness_.Await(watcher->Next());
    ASSERT_EQ(events.size(), 1u);
    ASSERT_EQ(events[0].type, Event::Type::kBookmark);
    reached = events[0].revision;
  }
}

TEST_P(StoreContract, ResumesFromEtcdBeyondTheWindow) {
  const EntryPtr a = Create("ns", "a", "red");
  Recolor("ns", "a", "blue");
  Delete("ns", "a");
  Create("ns", "b", "red");
  store_ = backend_->Open(WidgetConfig());  // its window begins now
  WatchOptions options;
  options.resource_version = ResourceVersion(a);
  auto watcher = Watch(options);
  EXPECT_THAT(Events(*watcher, 3), ElementsAre("MODIFIED ns/a blue", "DELETED ns/a blue", "ADDED ns/b red"));
  const EntryPtr c = Create("ns", "c", "red");
  EXPECT_THAT(Events(*watcher, 1), ElementsAre("ADDED ns/c red"));

  ASSERT_TRUE(harness_.Await(client_->Compact(static_cast<etcd::Revision>(c->ModRevision()),
                                              testing::SystemClock().Steady() + std::chrono::seconds(5))));
  store_ = backend_->Open(WidgetConfig());
  auto too_late = Watch(options);
  EXPECT_THAT(Events(*too_late, 1), ElementsAre("ERROR 410"));
}

}  // namespace
}  // namespace apimesh::storage
