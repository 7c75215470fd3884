#include "services/console/session/sessions.h"

#include <vector>

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::console {
namespace {

using namespace std::chrono_literals;

class SessionsTest : public ::testing::Test {
 protected:
  IdentityPtr Someone() const { return std::make_shared<const Identity>(); }

  testing::ManualClock clock_;
  Sessions sessions_{3, 1h, clock_};
};

TEST_F(SessionsTest, NeedTheCookieAndTheKey) {
  const IdentityPtr identity = Someone();
  const Sessions::Ticket ticket = sessions_.Add(identity), other = sessions_.Add(Someone());
  EXPECT_EQ(sessions_.Find(ticket.cookie, ticket.key).identity, identity);
  EXPECT_FALSE(sessions_.Find(ticket.cookie, "").identity);
  EXPECT_FALSE(sessions_.Find("", ticket.key).identity);
  EXPECT_FALSE(sessions_.Find(ticket.cookie, other.key).identity);
  EXPECT_FALSE(sessions_.Find(ticket.key, ticket.cookie).identity);
  EXPECT_FALSE(sessions_.Find(ticket.cookie.substr(1), ticket.key).identity);
}

TEST_F(SessionsTest, EndAfterTheirLifetimeAlsoIfTheyAreUsed) {
  const Sessions::Ticket ticket = sessions_.Add(Someone());
  clock_.Advance(59min);
  EXPECT_TRUE(sessions_.Find(ticket.cookie, ticket.key).identity);
  clock_.Advance(1min);
  EXPECT_FALSE(sessions_.Find(ticket.cookie, ticket.key).identity);
  EXPECT_EQ(sessions_.Count(), 0u);
}

TEST_F(SessionsTest, TheirNumberIsBounded) {
  std::vector<Sessions::Ticket> tickets;
  for (int i = 0; i < 3; ++i) {
    tickets.push_back(sessions_.Add(Someone()));
    clock_.Advance(1s);
  }
  sessions_.Find(tickets[0].cookie, tickets[0].key);
  sessions_.Add(Someone());
  EXPECT_EQ(sessions_.Count(), 3u);
  EXPECT_TRUE(sessions_.Find(tickets[0].cookie, tickets[0].key).identity);
  EXPECT_FALSE(sessions_.Find(tickets[1].cookie, tickets[1].key).identity);
}

TEST_F(SessionsTest, CanBeRemoved) {
  const Sessions::Ticket ticket = sessions_.Add(Someone());
  sessions_.Remove(ticket.cookie);
  EXPECT_FALSE(sessions_.Find(ticket.cookie, ticket.key).identity);
}

}  // namespace
}  // namespace apimesh::console
