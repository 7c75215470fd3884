#include "services/store/mvcc/key_index.h"

#include <gtest/gtest.h>

namespace apimesh::store {
namespace {

void Put(KeyIndex& index, std::string_view key, Revision revision) {
  index.Apply({.id = {revision, 0}, .key = key, .create = revision, .version = 1});
}
void Delete(KeyIndex& index, std::string_view key, Revision revision) {
  index.Apply({.id = {revision, 0}, .deleted = true, .key = key});
}
Revision VisibleAt(const KeyIndex& index, std::string_view key, Revision revision) {
  const KeyIndex::Entry* entry = index.Find(key);
  const KeyVersion* version = entry == nullptr ? nullptr : entry->At(revision);
  return version == nullptr ? 0 : version->id.main;
}
std::vector<Revision> Compact(KeyIndex& index, Revision revision, std::size_t bound = 1000) {
  std::vector<ChangeId> dropped;
  while (!index.Compact(revision, bound, dropped)) {}
  std::vector<Revision> revisions;
  for (const ChangeId id : dropped) revisions.push_back(id.main);
  return revisions;
}

TEST(KeyIndex, ShowsEveryRevisionItsOwnVersion) {
  KeyIndex index;
  Put(index, "a", 2);
  Put(index, "a", 4);
  Delete(index, "a", 6);
  Put(index, "a", 8);
  const Revision expected[] = {0, 0, 2, 2, 4, 4, 0, 0, 8, 8};
  for (Revision at = 0; at < 10; ++at) EXPECT_EQ(VisibleAt(index, "a", at), expected[at]) << at;
}

TEST(KeyIndex, CompactionDropsWhatNoReaderCanSee) {
  KeyIndex index;
  Put(index, "a", 2);
  Put(index, "b", 3);
  Put(index, "a", 4);
  Put(index, "a", 6);
  EXPECT_EQ(Compact(index, 5), std::vector<Revision>{2});
  EXPECT_EQ(VisibleAt(index, "a", 5), 4);
  EXPECT_EQ(VisibleAt(index, "b", 5), 3);
}

TEST(KeyIndex, CompactionKeepsADeletionAtItsOwnRevisionAndDropsItLater) {
  KeyIndex index;
  Put(index, "a", 2);
  Delete(index, "a", 3);
  EXPECT_EQ(Compact(index, 3), std::vector<Revision>{2});
  ASSERT_NE(index.Find("a"), nullptr);  // a watch from revision 3 still receives the deletion
  Put(index, "b", 4);
  EXPECT_EQ(Compact(index, 4), std::vector<Revision>{3});
  EXPECT_EQ(index.Find("a"), nullptr);
  EXPECT_EQ(index.size(), 1u);
}

TEST(KeyIndex, CompactionInSlicesDropsTheSame) {
  KeyIndex whole, sliced;
  for (Revision r = 2; r < 200; ++r) {
    const std::string key = "k" + std::to_string(r % 7);
    for (KeyIndex* index : {&whole, &sliced}) r % 5 == 0 ? Delete(*index, key, r) : Put(*index, key, r);
  }
  EXPECT_EQ(Compact(whole, 150), Compact(sliced, 150, 1));
  for (int k = 0; k < 7; ++k) {
    const std::string key = "k" + std::to_string(k);
    for (Revision at = 150; at < 200; ++at) EXPECT_EQ(VisibleAt(whole, key, at), VisibleAt(sliced, key, at));
  }
}

TEST(KeyIndex, WalksRangesInOrder) {
  KeyIndex index;
  for (const char* key : {"c", "a", "b", "ab"}) Put(index, key, 2);
  const auto walk = [&](std::string_view key, std::string_view end) {
    std::string keys;
    index.Walk(key, end, [&](const KeyIndex::Entry& entry) {
      keys += entry.key + " ";
      return true;
    });
    return keys;
  };
  EXPECT_EQ(walk("a", "b"), "a ab ");
  EXPECT_EQ(walk("a", ""), "a ");
  EXPECT_EQ(walk("ab", std::string_view("\0", 1)), "ab b c ");
}

}  // namespace
}  // namespace apimesh::store
