#include "services/store/net/busy_polling.h"

#include <gtest/gtest.h>

namespace apimesh::store {
namespace {

constexpr auto kShort = BusyPolling::kPollTime / 2, kLong = BusyPolling::kPollTime * 2;

/// Returns the number of short waits until the loop would poll.
int WaitsUntilItPolls(BusyPolling& polling) {
  int waits = 0;
  for (; !polling.ShouldPoll(); ++waits) polling.Slept(kShort);
  return waits;
}

TEST(BusyPolling, LooksOnceSeveralWaitsWereShort) {
  BusyPolling polling;
  for (int i = 1; i < BusyPolling::kFewestWaits; ++i) polling.Slept(kShort);
  polling.Slept(kLong);
  EXPECT_EQ(WaitsUntilItPolls(polling), BusyPolling::kFewestWaits);
  polling.Found();
  EXPECT_TRUE(polling.ShouldPoll());
  polling.Slept(kLong);
  EXPECT_FALSE(polling.ShouldPoll());
}

TEST(BusyPolling, SomeLongWaitsAmongManyShortOnesDoNotMatter) {
  BusyPolling polling;
  polling.SwitchesToOthers(BusyPolling::kWantedByOthers);
  int waits = 0;
  for (; !polling.ShouldPoll() && waits < 10 * BusyPolling::kMostWaits; ++waits)
    polling.Slept(waits % 50 == 0 ? kLong : kShort);
  EXPECT_LT(waits, 2 * BusyPolling::kMostWaits);
  BusyPolling mixed;
  for (int i = 0; i < 1000; ++i) {
    mixed.Slept(i % 4 == 0 ? kLong : kShort);
    EXPECT_FALSE(mixed.ShouldPoll());
  }
}

TEST(BusyPolling, LooksInVainBecomeRare) {
  BusyPolling polling;
  long waits = 0, looks = 0;
  for (; waits < 100'000; ++looks) {
    waits += WaitsUntilItPolls(polling);
    polling.PolledInVain();
  }
  EXPECT_LE(looks, 120);
  EXPECT_LE(WaitsUntilItPolls(polling), BusyPolling::kMostWaits);
  for (int i = 0; i < 12; ++i) polling.Found();
  polling.PolledInVain();
  EXPECT_EQ(WaitsUntilItPolls(polling), 2 * BusyPolling::kFewestWaits);
}

TEST(BusyPolling, WhereOthersWantTheCoreItSleeps) {
  BusyPolling polling;
  WaitsUntilItPolls(polling);
  int checks = 0;
  for (int look = 0; look < 10 * BusyPolling::kPollsPerCheck; ++look) checks += polling.ShouldCheck() ? 1 : 0;
  EXPECT_EQ(checks, 10);
  polling.SwitchesToOthers(BusyPolling::kWantedByOthers - 1);
  EXPECT_TRUE(polling.ShouldPoll());
  polling.SwitchesToOthers(BusyPolling::kWantedByOthers);
  EXPECT_EQ(WaitsUntilItPolls(polling), BusyPolling::kMostWaits);
}

}  // namespace
}  // namespace apimesh::store
