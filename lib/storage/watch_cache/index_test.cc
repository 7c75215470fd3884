#include "lib/storage/watch_cache/index.h"

#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lib/storage/etcd_store/snapshot_cursor.h"
#include "lib/storage/watch_cache/watch_cache.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::storage {
namespace {

ResourceConfig PodLike() {
  ResourceConfig config;
  config.resource = {"", "pods"};
  config.selectable_fields = {"spec.nodeName"};
  return config;
}
const auto kRecipe = std::make_shared<const EntryRecipe>(PodLike());

CachedEntryPtr Pod(int number, Revision revision, int group, int node) {
  const std::string key = fmt::format("ns{}/p{:05}", number % 3, number);
  const std::string labels = group < 0 ? "" : fmt::format(R"(,"labels":{{"app":"a","group":"g{}"}})", group);
  return *CachedEntry::FromJson(
      kRecipe, key, revision,
      fmt::format(R"({{"metadata":{{"name":"p"{}}},"spec":{{"nodeName":"n{}"}}}})", labels, node));
}

Filter FilterFor(const std::string& labels, const std::string& fields = "", std::string prefix = "") {
  return {std::move(prefix), *meta::LabelSelector::Parse(labels), *meta::FieldSelector::Parse(fields)};
}

std::set<std::string> Matching(const Tree& tree, const Filter& filter) {
  std::set<std::string> keys;
  tree.Walk("", [&](const CachedEntryPtr& entry) {
    if (filter.Matches(*entry)) keys.insert(fmt::format("{}@{}", entry->KeyText(), entry->ModRevision()));
    return true;
  });
  return keys;
}

TEST(Index, AnswersForEverySnapshotAsAFullWalkDoes) {
  std::mt19937 random(7);
  const testing::ManualClock clock;
  WatchCache cache(kRecipe, BackendOptions{.clock = clock});
  std::vector<CachedEntryPtr> pods;
  for (int i = 0; i < 600; ++i) pods.push_back(Pod(i, 1, i % 50, i % 7));
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) { return a->KeyText() < b->KeyText(); });
  cache.Fill(pods, 1);
  const Filter by_label = FilterFor("group=g3"), by_node = FilterFor("", "spec.nodeName=n2"),
               by_both = FilterFor("group in (g3)", "spec.nodeName=n2");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cache.FindCandidates(*cache.Current(), by_label).tree, nullptr);
    EXPECT_EQ(cache.FindCandidates(*cache.Current(), by_node).tree, nullptr);
  }
  for (const Filter& filter : {by_label, by_node}) {
    const SnapshotPtr current = cache.Current();
    const Tree* candidates = cache.FindCandidates(*current, filter).tree;
    ASSERT_NE(candidates, nullptr) << "asked for often enough, though nothing has changed since";
    EXPECT_EQ(Matching(*candidates, filter), Matching(current->tree, filter));
  }
  std::vector<SnapshotPtr> snapshots;
  for (Revision revision = 2; revision < 3000; ++revision) {
    const int number = static_cast<int>(random() % 900);
    CachedEntryPtr pod;
    if (random() % 3 != 0)
      pod = Pod(number, revision, static_cast<int>(random() % 60) - 10, static_cast<int>(random() % 7));
    std::vector<WatchCache::Change> changes;
    changes.push_back({fmt::format("ns{}/p{:05}", number % 3, number), pod, revision});
    cache.Apply(std::move(changes), revision);
    if (revision % 100 == 0) snapshots.push_back(cache.Current());
  }
  for (const SnapshotPtr& snapshot : snapshots) {
    for (const Filter& filter : {by_label, by_node, by_both, FilterFor("group=unknown")}) {
      const WatchCache::Candidates candidates = cache.FindCandidates(*snapshot, filter);
      ASSERT_NE(candidates.tree, nullptr);
      EXPECT_EQ(Matching(*candidates.tree, filter), Matching(snapshot->tree, filter));
      EXPECT_LT(candidates.tree->size(), snapshot->tree.size() / 3);
      EXPECT_EQ(candidates.exact, filter.labels.Empty() || filter.fields.Empty());
      if (candidates.exact) {
        EXPECT_EQ(candidates.tree->size(), Matching(snapshot->tree, filter).size());
      }
    }
  }
}

TEST(Index, ASelectorVisitsOnlyMatchingObjects) {
  const testing::ManualClock clock;
  WatchCache cache(kRecipe, BackendOptions{.clock = clock});
  std::vector<CachedEntryPtr> pods;
  for (int i = 0; i < 5000; ++i) pods.push_back(Pod(i, 1, i % 50, i % 100));
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) { return a->KeyText() < b->KeyText(); });
  cache.Fill(pods, 1);
  for (int i = 0; i < 3; ++i) cache.FindCandidates(*cache.Current(), FilterFor("group=g7", "spec.nodeName=n7"));
  for (int i = 0; i < 2; ++i) cache.FindCandidates(*cache.Current(), FilterFor("group=g7", "spec.nodeName=n7"));
  EXPECT_EQ(cache.FindCandidates(*cache.Current(), FilterFor("group=g7")).tree->size(), 100u);
  EXPECT_EQ(cache.FindCandidates(*cache.Current(), FilterFor("", "spec.nodeName=n7")).tree->size(), 50u);
  const auto two_terms = FilterFor("group=g7", "spec.nodeName=n7");
  EXPECT_EQ(cache.FindCandidates(*cache.Current(), two_terms).tree->size(), 50u) << "the narrower of two";
}

/// An unreadable object has no fields, but an index must not list it under the empty value, because a list by that term
/// does not check further.
TEST(Index, UnreadableObjectsAreInNoIndex) {
  const testing::ManualClock clock;
  WatchCache cache(kRecipe, BackendOptions{.clock = clock});
  std::vector<CachedEntryPtr> pods;
  for (int i = 0; i < 300; ++i) pods.push_back(Pod(i, 1, i % 50, i % 7));
  pods.push_back(CachedEntry::Unreadable(kRecipe, "zz/locked", 1, meta::InternalError("no key")));
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) { return a->KeyText() < b->KeyText(); });
  cache.Fill(pods, 1);
  const Filter filter = FilterFor("", "spec.nodeName=");
  for (int i = 0; i < 3; ++i) cache.FindCandidates(*cache.Current(), filter);
  const SnapshotPtr snapshot = cache.Current();
  const WatchCache::Candidates candidates = cache.FindCandidates(*snapshot, filter);
  ASSERT_NE(candidates.tree, nullptr);
  EXPECT_TRUE(SnapshotCursor(snapshot, filter, {}, candidates).Next(1000).empty());
}

TEST(Index, SelectorsWithoutASingleValueScanAllObjects) {
  EXPECT_TRUE(TermsOf(FilterFor("a in (b,c),d!=e,f")).empty());
  EXPECT_TRUE(TermsOf(FilterFor("", "metadata.name=x,spec.nodeName!=y")).empty());
  EXPECT_EQ(TermsOf(FilterFor("a=b", "spec.nodeName=y")).size(), 2u);
}

}  // namespace
}  // namespace apimesh::storage
