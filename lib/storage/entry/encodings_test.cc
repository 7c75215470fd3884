#include "lib/storage/entry/encodings.h"

#include <gtest/gtest.h>

#include "lib/storage/contract_tests/harness.h"
#include "lib/storage/entry/entry.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

/// Advances a time that all tests share, because sweeps of the process follow each other. It is later than the sweeps
/// of stores in other tests, which use the clock of the system.
void NextSweep() {
  static SteadyTime now = testing::In(std::chrono::hours(1));
  now += Encodings::kSweepInterval;
  Encodings::SweepUnused(now);
}

class EncodingsTest : public ::testing::Test {
 protected:
  EncodingsTest() { NextSweep(); }
  CachedEntryPtr NewEntry(const std::string& name) {
    return CachedEntry::FromJson(recipe_, "ns/" + name, 7, WidgetJson("ns", name, "red")).value();
  }
  SharedBytes Encode(const CachedEntryPtr& entry, std::string_view encoding, std::size_t size = 10) {
    return entry->Encoded(encoding, [&](std::string_view) { return ++made_, std::string(size, 'x'); });
  }
  const std::shared_ptr<const EntryRecipe> recipe_ = std::make_shared<const EntryRecipe>(WidgetConfig());
  int made_ = 0;
};

TEST_F(EncodingsTest, AreCreatedOnceWhileUsed) {
  const CachedEntryPtr entry = NewEntry("a");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Encode(entry, "protobuf").size(), 10u);
    NextSweep();
  }
  EXPECT_EQ(made_, 1);
}

TEST_F(EncodingsTest, AreFreedWhenUnused) {
  const std::size_t before = Encodings::Total();
  const CachedEntryPtr entry = NewEntry("a");
  const SharedBytes held = Encode(entry, "watch.ADDED", 1000);
  Encode(entry, "protobuf", 1000);
  EXPECT_GE(Encodings::Total(), before + 2000);
  NextSweep();  // used since the previous sweep
  EXPECT_GE(Encodings::Total(), before + 2000);
  Encode(entry, "protobuf", 1000);
  NextSweep();
  EXPECT_LT(Encodings::Total(), before + 2000) << "one of the two was not used";
  EXPECT_EQ(held.View(), std::string(1000, 'x')) << "a caller that holds bytes may still send them";
  EXPECT_EQ(made_, 2);
  NextSweep();
  EXPECT_EQ(Encodings::Total(), before);
  Encode(entry, "protobuf", 1000);
  EXPECT_EQ(made_, 3);
  EXPECT_GE(Encodings::Total(), before + 1000);
}

TEST_F(EncodingsTest, WithAgesAreCreatedAgainAfterTheirValidity) {
  using std::chrono::seconds;
  const std::size_t before = Encodings::Total();
  const CachedEntryPtr entry = NewEntry("a");
  const WallTime start = testing::ManualClock().Now();
  const auto encode = [&](seconds at, std::size_t size) {
    return entry
        ->EncodedAt(
            start + at, "table",
            [&](std::string_view) { return ++made_, Entry::Timed{std::string(size, 'x'), start + at + seconds(10)}; })
        .size();
  };
  EXPECT_EQ(encode(seconds(0), 1000), 1000u);
  EXPECT_EQ(encode(seconds(9), 0), 1000u);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(encode(seconds(10), 500), 500u);
  EXPECT_EQ(encode(seconds(9), 700), 700u) << "made before its time";
  EXPECT_EQ(made_, 3);
  EXPECT_LT(Encodings::Total(), before + 1000) << "the new one replaces the old one";
  NextSweep();
  NextSweep();
  EXPECT_EQ(Encodings::Total(), before);
}

TEST_F(EncodingsTest, AreFreedWithTheirObject) {
  const std::size_t before = Encodings::Total();
  CachedEntryPtr entry = NewEntry("a");
  Encode(entry, "protobuf", 1000);
  entry.reset();
  EXPECT_EQ(Encodings::Total(), before);
  NextSweep();
}

/// Names that are equal up to a '#' encoding a family.
TEST_F(EncodingsTest, OnlyAFewOfAFamilyAreKept) {
  const std::size_t before = Encodings::Total();
  const CachedEntryPtr entry = NewEntry("a");
  Encode(entry, "protobuf", 1000);
  for (int i = 0; i < 20; ++i) Encode(entry, "run#" + std::to_string(i), 1000);
  EXPECT_LT(Encodings::Total(), before + 6000);
  made_ = 0;
  Encode(entry, "run#19", 1000);
  Encode(entry, "run#18", 1000);
  Encode(entry, "protobuf", 1000);
  EXPECT_EQ(made_, 0);
  Encode(entry, "run#3", 1000);
  EXPECT_EQ(made_, 1);
}

TEST_F(EncodingsTest, StayBelowTheBudgetWithoutEvictingEachOther) {
  std::vector<CachedEntryPtr> entries;
  constexpr std::size_t kSize = 8u << 20;
  for (int i = 0; i < 20; ++i) entries.push_back(NewEntry(std::to_string(i)));
  for (const CachedEntryPtr& entry : entries) EXPECT_EQ(Encode(entry, "protobuf", kSize).size(), kSize);
  EXPECT_LE(Encodings::Total(), Encodings::kBudget);
  made_ = 0;
  for (const CachedEntryPtr& entry : entries) Encode(entry, "protobuf", kSize);
  EXPECT_EQ(made_, 20 - static_cast<int>(Encodings::kBudget / (kSize + 200))) << "most are still there";
}

}  // namespace
}  // namespace apimesh::storage
