#include "lib/net/tls/control_records.h"

#include <gtest/gtest.h>

namespace apimesh::net {
namespace {

constexpr SteadyTime kStart{std::chrono::hours(1)};

int CountUntilRefused(ControlRecordLimit& limit, SteadyTime now) {
  int taken = 0;
  while (taken < 10'000 && limit.Count(now)) ++taken;
  return taken;
}

TEST(ControlRecordLimit, AHandshakeHasItsOwnLimit) {
  ControlRecordLimit limit;
  EXPECT_EQ(CountUntilRefused(limit, kStart), ControlRecordLimit::kDuringHandshake);
  EXPECT_EQ(CountUntilRefused(limit, kStart + std::chrono::hours(1)), 0)
      << "time does not help an unfinished handshake";
}

TEST(ControlRecordLimit, AnEstablishedConnectionGetsABurstAndThenOnePerSecond) {
  ControlRecordLimit limit;
  for (int i = 0; i < 20; ++i) limit.Count(kStart);
  limit.HandshakeDone();
  EXPECT_EQ(CountUntilRefused(limit, kStart), ControlRecordLimit::kBurst);
  EXPECT_EQ(CountUntilRefused(limit, kStart + std::chrono::seconds(3)), 3);
}

}  // namespace
}  // namespace apimesh::net
