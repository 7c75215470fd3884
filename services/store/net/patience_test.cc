#include "services/store/net/patience.h"

#include <gtest/gtest.h>

namespace apimesh::store {
namespace {

constexpr auto kShort = Patience::kLook / 2, kLong = Patience::kLook * 2;

/// Short waits until it would look.
int WaitsUntilItLooks(Patience& patience) {
  int waits = 0;
  for (; !patience.ShouldLook(); ++waits) patience.Slept(kShort);
  return waits;
}

TEST(Patience, LooksOnceSeveralWaitsWereShort) {
  Patience patience;
  for (int i = 1; i < Patience::kFewestWaits; ++i) patience.Slept(kShort);
  patience.Slept(kLong);
  EXPECT_EQ(WaitsUntilItLooks(patience), Patience::kFewestWaits);
  patience.Found();
  EXPECT_TRUE(patience.ShouldLook());
  patience.Slept(kLong);
  EXPECT_FALSE(patience.ShouldLook());
}

TEST(Patience, SomeLongWaitsAmongManyShortOnesDoNotMatter) {
  Patience patience;
  patience.SwitchesToOthers(Patience::kWantedByOthers);
  int waits = 0;
  for (; !patience.ShouldLook() && waits < 10 * Patience::kMostWaits; ++waits) patience.Slept(waits % 50 == 0 ? kLong : kShort);
  EXPECT_LT(waits, 2 * Patience::kMostWaits);
  Patience mixed;
  for (int i = 0; i < 1000; ++i) {
    mixed.Slept(i % 4 == 0 ? kLong : kShort);
    EXPECT_FALSE(mixed.ShouldLook());
  }
}

TEST(Patience, LooksInVainBecomeRare) {
  Patience patience;
  long waits = 0, looks = 0;
  for (; waits < 100'000; ++looks) {
    waits += WaitsUntilItLooks(patience);
    patience.LookedInVain();
  }
  EXPECT_LE(looks, 120);
  EXPECT_LE(WaitsUntilItLooks(patience), Patience::kMostWaits);
  for (int i = 0; i < 12; ++i) patience.Found();
  patience.LookedInVain();
  EXPECT_EQ(WaitsUntilItLooks(patience), 2 * Patience::kFewestWaits);
}

TEST(Patience, WhereOthersWantTheCoreItSleeps) {
  Patience patience;
  WaitsUntilItLooks(patience);
  int checks = 0;
  for (int look = 0; look < 10 * Patience::kLooksACheck; ++look) checks += patience.ShouldCheck() ? 1 : 0;
  EXPECT_EQ(checks, 10);
  patience.SwitchesToOthers(Patience::kWantedByOthers - 1);
  EXPECT_TRUE(patience.ShouldLook());
  patience.SwitchesToOthers(Patience::kWantedByOthers);
  EXPECT_EQ(WaitsUntilItLooks(patience), Patience::kMostWaits);
}

}  // namespace
}  // namespace apimesh::store
