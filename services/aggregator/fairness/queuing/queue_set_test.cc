#include "services/aggregator/fairness/queuing/queue_set.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::aggregator {
namespace {

using Outcome = QueueSet::Outcome;
using Response = QueueSettings::Response;
using std::chrono::milliseconds;

class QueueSetTest : public ::testing::Test {
 protected:
  /// Enters a request of the flow and keeps its ticket.
  Outcome Enter(std::uint64_t flow, WorkEstimate work = {}) {
    Ticket& ticket = tickets_.emplace_back();
    ticket.flow_hash = flow;
    ticket.work = work;
    return set_.Enter(ticket);
  }
  int Executing() const { return set_.GetDump(false).executing; }
  int Waiting() const { return set_.GetDump(false).waiting; }

  testing::ManualClock clock_;
  std::vector<SteadyTime> releases_;
  QueueSet set_{clock_, [this](SteadyTime time) { releases_.push_back(time); }};
  std::deque<Ticket> tickets_;  // destroyed before the set
};

TEST_F(QueueSetTest, RejectsWhenFull) {
  set_.Configure({.response = Response::kReject}, 2);
  EXPECT_EQ(Enter(1), Outcome::kExecute);
  EXPECT_EQ(Enter(2), Outcome::kExecute);
  EXPECT_EQ(Enter(3), Outcome::kReject);
  set_.Leave(tickets_[0]);
  EXPECT_EQ(Enter(3), Outcome::kExecute);
  EXPECT_EQ(set_.GetDump(false).rejected, 1u);
}

TEST_F(QueueSetTest, ExemptRequestsNeverWait) {
  set_.Configure({.response = Response::kExempt}, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Enter(1), Outcome::kExecute);
}

TEST_F(QueueSetTest, QueuesUpToTheLengthLimit) {
  set_.Configure({.response = Response::kQueue, .queues = 1, .hand_size = 1, .length_limit = 2}, 1);
  EXPECT_EQ(Enter(1), Outcome::kExecute);
  EXPECT_EQ(Enter(1), Outcome::kWait);
  EXPECT_EQ(Enter(1), Outcome::kWait);
  EXPECT_EQ(Enter(1), Outcome::kReject);
  set_.Leave(tickets_[0]);
  EXPECT_EQ(Executing(), 1);
  EXPECT_EQ(Waiting(), 1);
}

TEST_F(QueueSetTest, WideRequestsOccupyTheirSeats) {
  set_.Configure({.response = Response::kQueue, .queues = 4, .hand_size = 1, .length_limit = 10}, 10);
  EXPECT_EQ(Enter(0, {.initial_seats = 8}), Outcome::kExecute);
  EXPECT_EQ(Enter(1, {.initial_seats = 5}), Outcome::kWait);
  // It could run, but then the request before it might never get its seats.
  EXPECT_EQ(Enter(1), Outcome::kWait);
  set_.Leave(tickets_[0]);
  EXPECT_EQ(Executing(), 2);
}

TEST_F(QueueSetTest, ARequestThatNeedsMoreSeatsThanThereAreRunsAlone) {
  set_.Configure({.response = Response::kQueue, .queues = 4, .hand_size = 1, .length_limit = 10}, 3);
  EXPECT_EQ(Enter(0), Outcome::kExecute);
  EXPECT_EQ(Enter(1, {.initial_seats = 5}), Outcome::kWait);
  set_.Leave(tickets_[0]);
  EXPECT_EQ(Executing(), 1);
  EXPECT_EQ(Enter(2), Outcome::kWait);
  set_.Leave(tickets_[1]);
  EXPECT_EQ(Executing(), 1);
}

TEST_F(QueueSetTest, SeatsStayOccupiedForTheExtraTime) {
  set_.Configure({.response = Response::kQueue, .queues = 1, .hand_size = 1, .length_limit = 10}, 2);
  EXPECT_EQ(Enter(1, {.initial_seats = 1, .final_seats = 2, .extra_time = milliseconds(5)}), Outcome::kExecute);
  EXPECT_EQ(Enter(1), Outcome::kWait);
  set_.Leave(tickets_[0]);
  ASSERT_FALSE(releases_.empty());
  EXPECT_EQ(releases_.back(), clock_.Steady() + milliseconds(5));
  EXPECT_EQ(Waiting(), 1);
  clock_.Advance(milliseconds(5));
  set_.Poll();
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(QueueSetTest, SuspendedRequestsLeaveRoomForOthers) {
  set_.Configure({.response = Response::kQueue, .queues = 1, .hand_size = 1, .length_limit = 10}, 1);
  EXPECT_EQ(Enter(1), Outcome::kExecute);
  EXPECT_EQ(Enter(1), Outcome::kWait);
  set_.Suspend(tickets_[0]);
  EXPECT_EQ(Waiting(), 0);
  set_.Resume(tickets_[0]);
  EXPECT_EQ(Executing(), 2);
  set_.Suspend(tickets_[1]);
  tickets_.pop_back();  // ends while suspended: its seats are not freed twice
  EXPECT_EQ(Enter(1), Outcome::kWait);
}

TEST_F(QueueSetTest, ADestroyedTicketLeavesItsQueue) {
  set_.Configure({.response = Response::kQueue, .queues = 1, .hand_size = 1, .length_limit = 10}, 1);
  EXPECT_EQ(Enter(1), Outcome::kExecute);
  EXPECT_EQ(Enter(1), Outcome::kWait);
  tickets_.pop_back();
  EXPECT_EQ(Waiting(), 0);
  tickets_.pop_back();
  EXPECT_TRUE(set_.Idle());
}

// One flow sends 100 times as many requests as the other. Both get the same number of seats while both have requests.
TEST_F(QueueSetTest, FlowsShareTheSeatsEqually) {
  set_.Configure({.response = Response::kQueue, .queues = 2, .hand_size = 1, .length_limit = 10'000}, 10);
  std::deque<Ticket> heavy(1000), light(100);
  for (Ticket& ticket : heavy) {
    ticket.flow_hash = 0;
    set_.Enter(ticket);
  }
  for (Ticket& ticket : light) {
    ticket.flow_hash = 1;
    set_.Enter(ticket);
  }
  const auto served = [](const std::deque<Ticket>& tickets, const QueueSet::Dump& dump, int queue) {
    return static_cast<int>(tickets.size()) - dump.queues[static_cast<std::size_t>(queue)].waiting;
  };
  // Each round, all executing requests finish after 10 ms.
  std::size_t next_heavy = 0, next_light = 0;
  for (int round = 0; round < 10; ++round) {
    clock_.Advance(milliseconds(10));
    const QueueSet::Dump dump = set_.GetDump(false);
    const auto end_heavy = static_cast<std::size_t>(served(heavy, dump, 0));
    const auto end_light = static_cast<std::size_t>(served(light, dump, 1));
    while (next_heavy < end_heavy) set_.Leave(heavy[next_heavy++]);
    while (next_light < end_light) set_.Leave(light[next_light++]);
  }
  EXPECT_NEAR(static_cast<double>(next_light), 50, 10);
}

TEST_F(QueueSetTest, SurplusQueuesDrain) {
  set_.Configure({.response = Response::kQueue, .queues = 4, .hand_size = 1, .length_limit = 10}, 4);
  for (std::uint64_t flow = 0; flow < 4; ++flow) EXPECT_EQ(Enter(flow), Outcome::kExecute);
  set_.Configure({.response = Response::kQueue, .queues = 1, .hand_size = 1, .length_limit = 10}, 4);
  EXPECT_EQ(set_.GetDump(false).queues.size(), 4u);
  tickets_.clear();
  EXPECT_EQ(set_.GetDump(false).queues.size(), 1u);
  EXPECT_EQ(Enter(3), Outcome::kExecute);
}

TEST_F(QueueSetTest, ReportsItsDemand) {
  set_.Configure({.response = Response::kQueue, .queues = 1, .hand_size = 1, .length_limit = 10}, 1);
  Enter(1);
  Enter(1);
  clock_.Advance(milliseconds(100));
  const SeatDemand::Period period = set_.TakeDemand();
  EXPECT_DOUBLE_EQ(period.highest, 2);
  EXPECT_DOUBLE_EQ(period.average, 2);
}

}  // namespace
}  // namespace apimesh::aggregator
