#include "services/store/crash/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::store::crash {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(History, AcceptsWhatACorrectStoreDoes) {
  History history;
  history.Add(Write{"k", "a", 0, 1, 2});
  history.Add(Write{"k", "b", 0.5, 3, 3});
  history.Add(Write{"k", "c", 4, 5, 0});  // unknown: may be there or not
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

}  // namespace
}  // namespace apimesh::store::crash
