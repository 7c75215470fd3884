#include "services/authn-authz/state/legacy_token_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/meta/time.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

TEST(LegacyTokenUses, AreReportedOncePerDayUntilTheyAreRecorded) {
  fake::ManualClock clock;
  std::vector<std::string> sent;
  bool recorded = false;
  const auto uses = std::make_shared<LegacyTokenUses>(
      [&](LegacyTokenUses::Use use, std::function<void(bool)> done) {
        sent.push_back(use.ns + "/" + use.secret + "/" + use.uid);
        done(recorded);
      },
      clock);
  const auto day = [&](int offset) {
    return meta::FormatTime(clock.Now() + std::chrono::hours(24 * offset)).substr(0, 10);
  };
  TokenObject secret{.uid = "u"};
  uses->Note("ns", "token", secret);
  EXPECT_THAT(sent, ::testing::ElementsAre("ns/token/u"));
  recorded = true;
  uses->Note("ns", "token", secret);  // the first report failed
  EXPECT_EQ(sent.size(), 2u);
  uses->Note("ns", "token", secret);  // recorded, although the watch has not delivered the label yet
  EXPECT_EQ(sent.size(), 2u);
  uses->Note("ns", "second", {.uid = "v"});
  EXPECT_EQ(sent.size(), 3u);
  secret.last_used = day(0);
  clock.Advance(std::chrono::hours(24));
  uses->Note("ns", "token", secret);
  EXPECT_EQ(sent.size(), 4u);
  for (const int offset : {0, 1}) uses->Note("ns", "third", {.uid = "w", .last_used = day(offset)});
  EXPECT_EQ(sent.size(), 4u);
  uses->Note("ns", "third", {.uid = "w", .last_used = day(2)});
  EXPECT_EQ(sent.size(), 5u);
}

}  // namespace
}  // namespace apimesh::authn_authz
