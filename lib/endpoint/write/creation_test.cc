#include <gmock/gmock.h>

#include "lib/endpoint/testing_hooks.h"
#include "lib/storage/etcd_store/errors.h"

namespace apimesh::endpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The three ways to create an object.
const Way kWays[] = {
    {"POST", "POST", kSpiedMaps, "application/json"},
    {"PUT", "PUT", kSpiedMaps + "/a", "application/json"},
    {"apply", "PATCH", kSpiedMaps + "/a?fieldManager=me", "application/apply-patch+yaml"},
};

std::vector<std::string> StepsOf(const Way& way) {
  std::vector<std::string> steps = {
      "Default", "Mutate", "Check", "BeginCreate named", "Prepare", "Validate", "ValidatingAdmission"};
  if (way.method != std::string("POST")) steps.insert(steps.begin() + 1, "Authorize");
  return steps;
}

TEST(Creation, RunsTheSameStepsForEveryWay) {
  for (const Way& way : kWays) {
    SpiedServer spied;
    EXPECT_EQ(spied.Send(way).code, 201) << way.name;
    EXPECT_THAT(spied.spy->steps, ElementsAreArray(StepsOf(way))) << way.name;
    EXPECT_THAT(spied.spy->taken, ElementsAre("10.0.0.1")) << way.name;
    EXPECT_EQ(spied.Stored(), spied.spy->taken) << way.name;
  }
}

TEST(Creation, GivesBackWhatItHoldsWhereverItEnds) {
  for (const Way& way : kWays) {
    const std::vector<std::string> steps = StepsOf(way);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Fault fault : {Fault::kError, Fault::kGone, Fault::kThrow}) {
        // Defaulting and preparation return no errors.
        if (fault == Fault::kError && (steps[i] == "Default" || steps[i] == "Prepare")) continue;
        SCOPED_TRACE(fmt::format("{} at {} fault {}", way.name, steps[i], static_cast<int>(fault)));
        SpiedServer spied;
        spied.spy->fails_at = steps[i];
        spied.spy->fault = fault;
        if (fault == Fault::kThrow) {
          EXPECT_THROW(spied.Send(way), std::runtime_error);
        } else {
          const int code = spied.Send(way).code;
          EXPECT_EQ(code, fault == Fault::kGone ? 504 : steps[i] == "Validate" ? 422 : 403);
        }
        // Preparation and validation are one step.
        const std::size_t reached = steps[i] == "Prepare" && fault == Fault::kGone ? i + 2 : i + 1;
        EXPECT_THAT(spied.spy->steps, ElementsAreArray(steps.begin(), steps.begin() + reached))
            << "nothing runs after it";
        EXPECT_THAT(spied.spy->taken, IsEmpty());
        EXPECT_THAT(spied.Stored(), IsEmpty());
      }
    }
  }
}

TEST(Creation, DoesNotBeginAfterTheDeadline) {
  for (const Way& way : kWays) {
    SpiedServer spied;
    spied.server.deadline = spied.server.clock.Steady() - std::chrono::seconds(1);
    EXPECT_EQ(spied.Send(way).code, 504) << way.name;
    EXPECT_THAT(spied.spy->steps, IsEmpty()) << way.name;
  }
}

TEST(Creation, RefusedBodiesTakeNothing) {
  for (const Way& way : kWays) {
    SpiedServer spied;
    const std::string body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":[]})";
    EXPECT_GE(spied.Send(way, body).code, 400) << way.name;
    EXPECT_THAT(spied.spy->taken, IsEmpty()) << way.name;
  }
}

TEST(Creation, HoldsNothingForAnObjectThatExists) {
  SpiedServer spied;
  spied.PutAsAnotherWriter("10.0.0.9");
  EXPECT_EQ(spied.Send(kWays[0]).Message(), "configmaps \"a\" already exists");
  EXPECT_THAT(spied.spy->taken, ElementsAre("10.0.0.9"));
}

TEST(Creation, HoldsNothingAfterALostRace) {
  for (const Way& way : kWays) {
    SpiedServer spied;
    spied.server.config_map_store->BeforeNextSwap([&] { spied.PutAsAnotherWriter("10.0.0.9"); });
    const Reply reply = spied.Send(way);
    EXPECT_EQ(reply.code, way.method == std::string("POST") ? 409 : 200) << way.name << reply.body;
    EXPECT_EQ(spied.Stored(), spied.spy->taken) << way.name;
    EXPECT_THAT(spied.spy->taken, SizeIs(1)) << way.name;
  }
}

TEST(Creation, GivesBackWhatItHoldsIfTheStoreRefuses) {
  for (const Way& way : kWays) {
    SpiedServer spied;
    spied.server.config_map_store->FailNextWrite(meta::ServiceUnavailable("no store"));
    EXPECT_EQ(spied.Send(way).code, 503) << way.name;
    EXPECT_THAT(spied.spy->taken, IsEmpty()) << way.name;
  }
}

TEST(Creation, KeepsWhatAnObjectThatMayExistHolds) {
  for (const Way& way : kWays) {
    for (const bool stored : {false, true}) {
      SpiedServer spied;
      spied.server.config_map_store->FailNextWrite(storage::OutcomeUnknown(), stored);
      EXPECT_EQ(spied.Send(way).code, 504) << way.name;
      EXPECT_THAT(spied.spy->taken, ElementsAre("10.0.0.1")) << way.name;
      EXPECT_THAT(spied.Stored(), SizeIs(stored ? 1 : 0)) << way.name;
    }
  }
}

TEST(Creation, EachGeneratedNameThatExistsGivesBackItsAddress) {
  SpiedServer spied([](TestServerOptions& options) { options.random = [] { return std::uint64_t{7}; }; });
  const std::string body = R"({"metadata":{"generateName":"x-"}})";
  EXPECT_EQ(spied.Send(kWays[0], body).code, 201);
  spied.spy->steps.clear();
  const Reply refused = spied.Send(kWays[0], body);
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.Message(), HasSubstr("the server was not able to generate a unique name for the object"));
  EXPECT_EQ(spied.Count("BeginCreate named"), 8) << "an address belongs to a name";
  EXPECT_EQ(spied.Count("Mutate"), 1);
  EXPECT_EQ(spied.Stored(), spied.spy->taken);
}

TEST(Creation, DryRunsTakeNothing) {
  for (const Way& way : kWays) {
    SpiedServer spied;
    Way dry = way;
    dry.target += std::string(way.target.find('?') == std::string::npos ? "?" : "&") + "dryRun=All";
    EXPECT_EQ(spied.Send(dry).code, 201) << way.name;
    EXPECT_THAT(spied.spy->steps, ::testing::Not(::testing::Contains("BeginCreate named"))) << way.name;
    EXPECT_THAT(spied.Stored(), IsEmpty()) << way.name;
  }
}

TEST(Creation, SaysThatAnObjectIsBeingDeletedOnlyIfItIs) {
  SpiedServer spied;
  const auto put = [&](const std::string& metadata, const std::string& data) {
    spied.server.config_map_store->Put(
        kSpiedKey,
        meta::Object(
            boost::json::parse(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default")" +
                               metadata + R"(},"data":{"address":"x")" + data + "}}")
                .as_object()));
  };
  put("", R"(,"text":"{\"deletionTimestamp\":1}","deletionTimestamp":"now")");
  EXPECT_EQ(spied.Send(kWays[0]).Message(), "configmaps \"a\" already exists");
  put(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", "");
  EXPECT_EQ(spied.Send(kWays[0]).Message(), "object is being deleted: configmaps \"a\" already exists");
}

}  // namespace
}  // namespace apimesh::endpoint
