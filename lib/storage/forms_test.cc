#include "lib/storage/forms.h"

#include <gtest/gtest.h>

#include "lib/storage/contract_tests/harness.h"
#include "lib/storage/entry.h"

namespace apimesh::storage {
namespace {

/// A clock of its own: the rounds of all tests go on from each other's.
void NextRound() {
  static SteadyTime now = std::chrono::steady_clock::now() + std::chrono::hours(1);
  now += Forms::kRound;
  Forms::EndRound(now);
}

class EncodedForms : public ::testing::Test {
 protected:
  EncodedForms() { NextRound(); }
  CachedEntryPtr NewEntry(const std::string& name) {
    return CachedEntry::FromJson(recipe_, "ns/" + name, 7, WidgetJson("ns", name, "red")).value();
  }
  SharedBytes Encode(const CachedEntryPtr& entry, std::string_view form, std::size_t size = 10) {
    return entry->Encoded(form, [&](std::string_view) { return ++made_, std::string(size, 'x'); });
  }
  const std::shared_ptr<const EntryRecipe> recipe_ = std::make_shared<const EntryRecipe>(WidgetConfig());
  int made_ = 0;
};

TEST_F(EncodedForms, AreMadeOnceWhileTheyAreUsed) {
  const CachedEntryPtr entry = NewEntry("a");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Encode(entry, "protobuf").size(), 10u);
    NextRound();
  }
  EXPECT_EQ(made_, 1);
}

TEST_F(EncodedForms, AreGivenBackWhenNobodyUsesThem) {
  const std::size_t before = Forms::Total();
  const CachedEntryPtr entry = NewEntry("a");
  const SharedBytes held = Encode(entry, "watch.ADDED", 1000);
  Encode(entry, "protobuf", 1000);
  EXPECT_GE(Forms::Total(), before + 2000);
  NextRound();  // used in the round that ends
  EXPECT_GE(Forms::Total(), before + 2000);
  Encode(entry, "protobuf", 1000);
  NextRound();
  EXPECT_LT(Forms::Total(), before + 2000) << "one of the two was not used";
  EXPECT_EQ(held.View(), std::string(1000, 'x')) << "who holds bytes may send them";
  EXPECT_EQ(made_, 2);
  NextRound();
  EXPECT_EQ(Forms::Total(), before);
  Encode(entry, "protobuf", 1000);
  EXPECT_EQ(made_, 3);
  EXPECT_GE(Forms::Total(), before + 1000);
}

TEST_F(EncodedForms, ThatShowAgesAreMadeAgainWhenTheirTimeIsOver) {
  using std::chrono::seconds;
  const std::size_t before = Forms::Total();
  const CachedEntryPtr entry = NewEntry("a");
  const WallTime start = Clock::System().Now();
  const auto encode = [&](seconds at, std::size_t size) {
    return entry->EncodedAt(start + at, "table", [&](std::string_view) { return ++made_, Entry::Timed{std::string(size, 'x'), start + at + seconds(10)}; }).size();
  };
  EXPECT_EQ(encode(seconds(0), 1000), 1000u);
  EXPECT_EQ(encode(seconds(9), 0), 1000u);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(encode(seconds(10), 500), 500u);
  EXPECT_EQ(encode(seconds(9), 700), 700u) << "made before its time";
  EXPECT_EQ(made_, 3);
  EXPECT_LT(Forms::Total(), before + 1000) << "the new one stands in the place of the old one";
  NextRound();
  NextRound();
  EXPECT_EQ(Forms::Total(), before);
}

TEST_F(EncodedForms, EndWithTheirObject) {
  const std::size_t before = Forms::Total();
  CachedEntryPtr entry = NewEntry("a");
  Encode(entry, "protobuf", 1000);
  entry.reset();
  EXPECT_EQ(Forms::Total(), before);
  NextRound();
}

/// What is named alike up to a '#' replaces each other.
TEST_F(EncodedForms, OfAFamilyOnlyTheLastFewAreKept) {
  const std::size_t before = Forms::Total();
  const CachedEntryPtr entry = NewEntry("a");
  Encode(entry, "protobuf", 1000);
  for (int i = 0; i < 20; ++i) Encode(entry, "run#" + std::to_string(i), 1000);
  EXPECT_LT(Forms::Total(), before + 6000);
  made_ = 0;
  Encode(entry, "run#19", 1000);
  Encode(entry, "run#18", 1000);
  Encode(entry, "protobuf", 1000);
  EXPECT_EQ(made_, 0);
  Encode(entry, "run#3", 1000);
  EXPECT_EQ(made_, 1);
}

TEST_F(EncodedForms, StayBelowTheBudgetAndDoNotPushEachOtherOut) {
  std::vector<CachedEntryPtr> entries;
  constexpr std::size_t kSize = 8u << 20;
  for (int i = 0; i < 20; ++i) entries.push_back(NewEntry(std::to_string(i)));
  for (const CachedEntryPtr& entry : entries) EXPECT_EQ(Encode(entry, "protobuf", kSize).size(), kSize);
  EXPECT_LE(Forms::Total(), Forms::kBudget);
  made_ = 0;
  for (const CachedEntryPtr& entry : entries) Encode(entry, "protobuf", kSize);
  EXPECT_EQ(made_, 20 - static_cast<int>(Forms::kBudget / (kSize + 200))) << "most are still there";
}

}  // namespace
}  // namespace apimesh::storage
