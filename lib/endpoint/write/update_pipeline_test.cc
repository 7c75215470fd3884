#include <gmock/gmock.h>

#include "lib/endpoint/testing_hooks.h"
#include "lib/storage/etcd_store/errors.h"

namespace apimesh::endpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kOne = kSpiedMaps + "/a";
const char* const kOld = "10.0.0.8";
const char* const kNew = "10.0.0.9";

/// Three ways to change an object; the body is valid for all of them.
const Way kUpdates[] = {
    {"PUT", "PUT", kOne, "application/json"},
    {"merge patch", "PATCH", kOne, "application/merge-patch+json"},
    {"apply", "PATCH", kOne + "?fieldManager=me&force=true", "application/apply-patch+yaml"},
};
const Way kDelete = {"DELETE", "DELETE", kOne, "application/json"};
const std::string kChange =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"address":"10.0.0.9"}})";
const std::vector<std::string> kSteps = {
    "Default", "Mutate", "Check", "BeginUpdate", "Prepare", "Validate", "ValidatingAdmission"};

TEST(Update, GivesBackWhatTheOldObjectHad) {
  for (const Way& way : kUpdates) {
    SpiedServer spied;
    spied.PutAsAnotherWriter(kOld);
    EXPECT_EQ(spied.Send(way, kChange).code, 200) << way.name;
    EXPECT_THAT(spied.spy->steps, ElementsAreArray(kSteps)) << way.name;
    EXPECT_THAT(spied.spy->taken, ElementsAre(kNew)) << way.name;
    EXPECT_THAT(spied.Stored(), ElementsAre(kNew)) << way.name;
  }
}

TEST(Update, GivesBackWhatItHoldsWhereverItEnds) {
  for (const Way& way : kUpdates) {
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      for (const Fault fault : {Fault::kError, Fault::kGone, Fault::kThrow}) {
        const std::string& step = kSteps[i];
        if (fault == Fault::kError && (step == "Default" || step == "Prepare")) continue;
        SCOPED_TRACE(fmt::format("{} at {} fault {}", way.name, step, static_cast<int>(fault)));
        SpiedServer spied;
        spied.PutAsAnotherWriter(kOld);
        spied.spy->fails_at = step;
        spied.spy->fault = fault;
        if (fault == Fault::kThrow) {
          EXPECT_THROW(spied.Send(way, kChange), std::runtime_error);
        } else {
          const int code = spied.Send(way, kChange).code;
          EXPECT_EQ(code, fault == Fault::kGone ? 504 : step == "Validate" ? 422 : 403);
        }
        const std::size_t reached = step == "Prepare" && fault == Fault::kGone ? i + 2 : i + 1;
        EXPECT_THAT(spied.spy->steps, ElementsAreArray(kSteps.begin(), kSteps.begin() + reached))
            << "nothing runs after it";
        EXPECT_THAT(spied.spy->taken, ElementsAre(kOld));
        EXPECT_THAT(spied.Stored(), ElementsAre(kOld));
      }
    }
  }
}

TEST(Update, GivesBackWhatItHoldsIfTheStoreRefuses) {
  SpiedServer spied;
  spied.PutAsAnotherWriter(kOld);
  spied.server.config_map_store->FailNextWrite(meta::ServiceUnavailable("no store"));
  EXPECT_EQ(spied.Send(kUpdates[0], kChange).code, 503);
  EXPECT_THAT(spied.spy->taken, ElementsAre(kOld));
}

TEST(Update, KeepsWhatBothStatesHoldIfTheOutcomeIsUnknown) {
  for (const bool stored : {false, true}) {
    SpiedServer spied;
    spied.PutAsAnotherWriter(kOld);
    spied.server.config_map_store->FailNextWrite(storage::OutcomeUnknown(), stored);
    EXPECT_EQ(spied.Send(kUpdates[0], kChange).code, 504);
    EXPECT_THAT(spied.spy->taken, ElementsAre(kOld, kNew));
  }
}

TEST(Update, ReleasesWhatAnAttemptThatLostARaceHeld) {
  SpiedServer spied;
  spied.PutAsAnotherWriter(kOld);
  spied.server.config_map_store->BeforeNextSwap([&] {
    spied.spy->taken.erase(kOld);
    spied.PutAsAnotherWriter("10.0.0.7");
  });
  EXPECT_EQ(spied.Send(kUpdates[1], kChange).code, 200);
  EXPECT_EQ(spied.Count("BeginUpdate"), 2);
  EXPECT_THAT(spied.spy->taken, ElementsAre(kNew));
}

TEST(Update, ThatRemovesTheLastFinalizerGivesBackWhatWasStored) {
  SpiedServer spied;
  spied.PutAsAnotherWriter(
      kOld, R"(,"finalizers":["x.y/z"],"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0)");
  EXPECT_EQ(spied.Send(kUpdates[1], R"({"metadata":{"finalizers":null},"data":{"address":"10.0.0.9"}})").code, 200);
  EXPECT_THAT(spied.Stored(), IsEmpty());
  EXPECT_THAT(spied.spy->taken, IsEmpty());
}

TEST(Deletion, GivesBackWhatTheLastStateHad) {
  SpiedServer spied;
  spied.PutAsAnotherWriter(kOld);
  spied.server.config_map_store->BeforeNextSwap(
      [&] { spied.PutAsAnotherWriter(kNew); });  // kOld belongs to another object now
  EXPECT_EQ(spied.Send(kDelete, "").code, 200);
  EXPECT_THAT(spied.spy->taken, ElementsAre(kOld));
}

TEST(Deletion, StopsWhenTheClientIsGone) {
  for (const char* const metadata : {"", R"(,"finalizers":["x.y/z"])"}) {
    SpiedServer spied;
    spied.PutAsAnotherWriter(kOld, metadata);
    *spied.spy->gone = true;
    EXPECT_EQ(spied.Send(kDelete, "").code, 504) << metadata;
    EXPECT_THAT(spied.spy->steps, IsEmpty()) << metadata;
    EXPECT_THAT(spied.Stored(), SizeIs(1)) << metadata;
  }
}

TEST(Deletion, OfACollectionStopsWhenTheClientIsGone) {
  SpiedServer spied;
  for (const char* const name : {"a", "b", "c"}) {
    const std::string body = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name);
    ASSERT_EQ(spied.server.Send("POST", kSpiedMaps, body).code, 201);
  }
  spied.spy->fails_at = "ValidatingAdmission";
  spied.spy->fault = Fault::kGone;
  const Way collection = {"DELETE", "DELETE", kSpiedMaps, "application/json"};
  EXPECT_EQ(spied.Send(collection, "").code, 504);
  EXPECT_THAT(spied.Stored(), SizeIs(2));
  EXPECT_EQ(spied.Stored(), spied.spy->taken);
}

}  // namespace
}  // namespace apimesh::endpoint
