#include "lib/storage/watch_cache/tree.h"

#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace apimesh::storage {
namespace {

const auto kRecipe = std::make_shared<const EntryRecipe>(ResourceConfig());

CachedEntryPtr EntryFor(const std::string& key, Revision revision) {
  return CachedEntry::Unreadable(kRecipe, key, revision, {});
}

using Model = std::map<std::string, Revision>;

void ExpectSame(const Tree& tree, const Model& model) {
  ASSERT_EQ(tree.size(), model.size());
  auto expected = model.begin();
  tree.Walk("", [&](const CachedEntryPtr& entry) {
    EXPECT_EQ(entry->KeyText(), expected->first);
    EXPECT_EQ(entry->ModRevision(), expected->second);
    ++expected;
    return true;
  });
  EXPECT_EQ(expected, model.end());
}

TEST(Tree, BehavesLikeAMapAndKeepsSnapshots) {
  std::mt19937 random(1);
  Tree tree;
  Model model;
  std::vector<std::pair<Tree, Model>> snapshots;
  for (Revision revision = 1; revision <= 30000; ++revision) {
    const std::string key = fmt::format("ns{}/k{}", random() % 3, random() % 2000);
    // The tree grows first and shrinks later.
    if (random() % 100 < (revision < 15000 ? 75u : 25u)) {
      tree.Put(EntryFor(key, revision));
      model[key] = revision;
    } else {
      EXPECT_EQ(tree.Erase(key), model.erase(key) == 1);
    }
    if (random() % 4 == 0) tree.Freeze();
    if (revision % 1500 == 0) {
      tree.Freeze();
      snapshots.emplace_back(tree, model);
    }
    if (revision % 97 == 0) {
      const auto found = model.lower_bound(key);
      EXPECT_EQ(tree.CountBefore(key), static_cast<std::size_t>(std::distance(model.begin(), found)));
      std::string first;
      tree.Walk(key, [&](const CachedEntryPtr& entry) { return first = entry->KeyText(), false; });
      EXPECT_EQ(first, found == model.end() ? "" : found->first);
      EXPECT_EQ(tree.Find(key) != nullptr, model.contains(key));
    }
  }
  snapshots.emplace_back(tree, model);
  for (const auto& [old, expected] : snapshots) ExpectSame(old, expected);
}

TEST(Tree, IsBuiltFromSortedEntries) {
  for (const int count : {0, 1, 48, 49, 5000}) {
    std::vector<CachedEntryPtr> entries;
    Model model;
    for (int i = 0; i < count; ++i) {
      entries.push_back(EntryFor(fmt::format("{:06}", i), i));
      model[fmt::format("{:06}", i)] = i;
    }
    Tree tree = Tree::FromSorted(std::move(entries));
    ExpectSame(tree, model);
    const Tree before = tree;
    for (int i = 0; i < count; ++i) EXPECT_TRUE(tree.Erase(fmt::format("{:06}", i)));
    EXPECT_EQ(tree.size(), 0u);
    ExpectSame(before, model);
  }
}

}  // namespace
}  // namespace apimesh::storage
