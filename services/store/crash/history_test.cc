#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/store/crash/test_history.h"

namespace apimesh::store::crash {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(History, AcceptsWhatACorrectStoreDoes) {
  History history;
  history.Add(Write{"k", "a", 0, 1, 2});
  history.Add(Write{"k", "b", 0.5, 3, 3});
  history.Add(Write{"k", "c", 4, 5, 0});  // unknown outcome: the write may be present or not
  history.Add(Read{"k", 1.5, 2, 2, 2, "a"});
  for (const auto& [revision, value] : {std::pair{2, "a"}, {3, "b"}}) history.Add(Event{revision, "k", value});
  EXPECT_THAT(history.Check(), IsEmpty());
}

TEST(History, FindsLostInventedStaleAndWrong) {
  History lost;
  lost.Add(Write{"k", "a", 0, 1, 2});
  EXPECT_THAT(lost.Check(), ElementsAre(HasSubstr("lost")));

  History invented;
  invented.Add(Event{2, "k", "x"});
  EXPECT_THAT(invented.Check(), ElementsAre(HasSubstr("invented")));

  History stale;
  stale.Add(Write{"k", "a", 0, 1, 2});
  stale.Add(Event{2, "k", "a"});
  stale.Add(Read{"k", 2, 3, 1, 0, ""});
  EXPECT_THAT(stale.Check(), ElementsAre(HasSubstr("stale")));

  History wrong;
  wrong.Add(Write{"k", "a", 0, 1, 2});
  wrong.Add(Event{2, "k", "a"});
  wrong.Add(Read{"k", 2, 3, 2, 0, ""});
  EXPECT_THAT(wrong.Check(), ElementsAre(HasSubstr("wrong")));

  History reordered;
  reordered.Add(Write{"k", "a", 0, 1, 2});
  reordered.Add(Write{"k", "b", 0, 1, 3});
  reordered.Add(Event{3, "k", "b"});
  reordered.Add(Event{2, "k", "a"});
  EXPECT_THAT(reordered.Check(), ElementsAre(HasSubstr("came after")));
}

TEST(History, ComparesWatchersAndFindsLeasesThatWereNotKept) {
  History history;
  for (std::int64_t revision = 2; revision < 6; ++revision) {
    const std::string key = revision % 2 == 0 ? "k1" : "other", value = std::to_string(revision);
    history.Add(Write{key, value, 0, 1, revision});
    history.Add(Event{revision, key, value});
    if (key == "k1") history.AddTo(0, "k", Event{revision, key, value});
  }
  EXPECT_THAT(history.Check(), IsEmpty());
  history.AddTo(1, "k", Event{4, "k1", "4"});  // without revision 2
  EXPECT_THAT(history.Check(), ElementsAre(HasSubstr("watcher 1 of k*: 0 of 2 events")));

  History leases;
  leases.Add(Write{"early", ""});
  leases.Add(Write{"in time", ""});
  leases.Add(LeasedKey{"early", 10, 2});
  leases.Add(LeasedKey{"in time", 10, 2});
  leases.Add(LeasedKey{"never", 10, 2});
  leases.Add(Event{2, "early", "", 11.5});
  leases.Add(Event{3, "in time", "", 12.5});
  EXPECT_THAT(leases.Check(), ElementsAre(HasSubstr("early was deleted 1.500 s"), HasSubstr("never is still there")));
}

}  // namespace
}  // namespace apimesh::store::crash
