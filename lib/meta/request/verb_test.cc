#include "lib/meta/request/verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

using ::testing::ElementsAre;

TEST(Verb, TextAndValueAreConvertedBothWays) {
  for (const Verb verb : {Verb::kCreate, Verb::kDelete, Verb::kDeleteCollection, Verb::kGet, Verb::kList, Verb::kPatch,
                          Verb::kProxy, Verb::kUpdate, Verb::kWatch}) {
    EXPECT_EQ(VerbFromString(ToString(verb)), verb) << ToString(verb);
  }
  for (const char* text : {"", "GET", "post", "impersonate", "watchlist"}) {
    EXPECT_EQ(VerbFromString(text), Verb::kOther) << text;
  }
}

TEST(RequestVerb, OtherTextsAreKept) {
  const RequestVerb watch("watch"), approve("approve"), none;
  EXPECT_EQ(watch, Verb::kWatch);
  EXPECT_EQ(watch.Text(), "watch");
  EXPECT_EQ(approve, Verb::kOther);
  EXPECT_EQ(approve.Text(), "approve");
  EXPECT_EQ(none.Text(), "");
}

TEST(RequestVerb, AnAssignedVerbReplacesTheText) {
  RequestVerb verb("approve");
  verb = Verb::kCreate;
  EXPECT_EQ(verb.Text(), "create");
}

TEST(VerbSet, NamesAreInAlphabeticalOrder) {
  const VerbSet verbs{Verb::kWatch, Verb::kCreate, Verb::kGet, Verb::kOther};
  EXPECT_THAT(verbs.Names(), ElementsAre("create", "get", "watch"));
  EXPECT_TRUE(verbs.contains(Verb::kGet));
  EXPECT_FALSE(verbs.contains(Verb::kList));
  EXPECT_FALSE(verbs.contains(Verb::kOther));
  EXPECT_TRUE(VerbSet().empty());
  EXPECT_TRUE(VerbSet{Verb::kOther}.empty());
  EXPECT_TRUE(verbs.ContainsAny({Verb::kList, Verb::kGet}));
  EXPECT_FALSE(verbs.ContainsAny({Verb::kList}));
}

}  // namespace
}  // namespace apimesh::meta
