#include "services/core-api/leader_election/election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/meta/time.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WallTime kNow = *meta::ParseTime("2026-01-01T00:30:00Z");
std::string At(int seconds) { return meta::FormatMicroTime(kNow + std::chrono::seconds(seconds)); }

struct CandidateOptions {
  std::string name;
  std::optional<int> renewed = 0, pinged = std::nullopt;  // seconds after kNow
  std::string emulation = "1.35.0", binary = "1.36.0";
  std::string created = "2026-01-01T00:00:00Z";
  std::string strategy = "OldestEmulationVersion";
};
meta::Object Candidate(CandidateOptions options) {
  json::object spec{{"leaseName", "l"},
                    {"strategy", options.strategy},
                    {"emulationVersion", options.emulation},
                    {"binaryVersion", options.binary}};
  if (options.renewed) spec["renewTime"] = At(*options.renewed);
  if (options.pinged) spec["pingTime"] = At(*options.pinged);
  return meta::Object(json::object{{"metadata", {{"name", options.name}, {"creationTimestamp", options.created}}},
                                   {"spec", std::move(spec)}});
}
meta::Object Lease(std::string holder, int renewed) {
  return meta::Object(json::object{{"spec",
                                    {{"holderIdentity", holder},
                                     {"renewTime", At(renewed)},
                                     {"leaseDurationSeconds", 5},
                                     {"strategy", "OldestEmulationVersion"}}}});
}

/// Returns "", "ping A B", "vote LEADER STRATEGY" or the error.
std::string Step(const std::vector<meta::Object>& candidates, const meta::Object* lease = nullptr) {
  const meta::Result<ElectionStep> step = NextStep(candidates, lease, kNow);
  if (!step) return step.error().Message();
  if (step->vote) return fmt::format("vote {} {}", step->vote->leader, step->vote->strategy);
  std::string text;
  for (const meta::Object* candidate : step->ping)
    text += fmt::format("{} {}", text.empty() ? "ping" : "", candidate->Name());
  return text;
}
constexpr const char* kVoteA = "vote a OldestEmulationVersion";

TEST(Election, ChoosesTheOldestEmulationVersion) {
  EXPECT_EQ(Step({}), "");
  EXPECT_EQ(Step({Candidate({.name = "a"})}), kVoteA);
  EXPECT_EQ(Step({Candidate({.name = "b", .emulation = "1.36.0"}), Candidate({.name = "a"})}), kVoteA);
  EXPECT_EQ(Step({Candidate({.name = "b", .binary = "1.37.0"}), Candidate({.name = "a"})}), kVoteA);
  EXPECT_EQ(Step({Candidate({.name = "b", .created = "2026-01-01T00:00:01Z"}), Candidate({.name = "a"})}), kVoteA);
  EXPECT_EQ(Step({Candidate({.name = "b", .emulation = ""})}), "no candidate has a valid version");
}

TEST(Election, StrategyIsThatOfTheNewestBinary) {
  const meta::Object other = Candidate({.name = "b", .binary = "1.37.0", .strategy = "example.com/x"});
  EXPECT_EQ(Step({Candidate({.name = "a"}), other}), "vote  example.com/x");
  EXPECT_EQ(Step({Candidate({.name = "a"}), Candidate({.name = "b", .strategy = "example.com/x"})}),
            "candidates \"a\", \"b\" at same binary version but received differing strategies OldestEmulationVersion, "
            "example.com/x");
}

TEST(Election, AsksCandidatesThatHaveNotRenewedThemselves) {
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -10})}), "ping a");
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -10}), Candidate({.name = "b"})}), "ping a");
  // It is waited for the answer of a, and when its time is over, b is chosen.
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -10, .pinged = -1}), Candidate({.name = "b"})}), "");
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -20, .pinged = -6}), Candidate({.name = "b"})}),
            "vote b OldestEmulationVersion");
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -20, .pinged = -6})}), "no available candidates");
  // An answer to an older question is no answer.
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -20, .pinged = -21})}), "ping a");
}

TEST(Election, IsNeededOnlyForABetterLeader) {
  const std::vector<meta::Object> both = {Candidate({.name = "a", .renewed = -60}),
                                          Candidate({.name = "b", .renewed = -60, .emulation = "1.36.0"})};
  const meta::Object held = Lease("a", 0), expired = Lease("a", -6), free = Lease("", 0), other = Lease("b", 0);
  EXPECT_EQ(Step(both, &held), "");
  EXPECT_EQ(Step(both, &expired), "ping a b");
  EXPECT_EQ(Step(both, &free), "ping a b");
  EXPECT_EQ(Step(both, &other), "ping a b");
  // Candidates renew themselves every 15 minutes.
  EXPECT_EQ(Step({Candidate({.name = "a", .renewed = -16 * 60})}, &held), "ping a");
}

TEST(Election, CandidatesExpire) {
  EXPECT_FALSE(IsExpiredCandidate(Candidate({.name = "a", .renewed = -29 * 60}), kNow));
  EXPECT_TRUE(IsExpiredCandidate(Candidate({.name = "a", .renewed = -31 * 60}), kNow));
  EXPECT_TRUE(IsExpiredCandidate(Candidate({.name = "a", .renewed = std::nullopt}), kNow));
}

std::string Spec(const meta::Object& lease) { return json::serialize(*meta::FindField(lease.Root(), "spec")); }

TEST(Election, VotesChangeLeases) {
  const ElectionStep::Vote vote{"OldestEmulationVersion", "a"};
  EXPECT_EQ(json::serialize(NewLease(vote, "ns", "l", kNow)),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":"ns","name":"l"},)"
            R"("spec":{"strategy":"OldestEmulationVersion","leaseDurationSeconds":5,)"
            R"("renewTime":"2026-01-01T00:30:00.000000Z","holderIdentity":"a"}})");
  meta::Object held = Lease("a", 0), other = Lease("b", 0), expired = Lease("b", -6);
  EXPECT_FALSE(ApplyVote(vote, kNow, held));
  // The holder gives a valid lease up by itself when another is preferred.
  EXPECT_TRUE(ApplyVote(vote, kNow, other));
  EXPECT_THAT(Spec(other), ::testing::AllOf(::testing::HasSubstr(R"("holderIdentity":"b")"),
                                            ::testing::HasSubstr(R"("preferredHolder":"a")")));
  EXPECT_FALSE(ApplyVote(vote, kNow, other));
  EXPECT_TRUE(ApplyVote(vote, kNow, expired));
  EXPECT_THAT(Spec(expired),
              ::testing::AllOf(::testing::HasSubstr(R"("holderIdentity":"a")"), ::testing::HasSubstr(At(0))));
  // Another controller chooses for other strategies.
  EXPECT_TRUE(ApplyVote({"example.com/x", ""}, kNow, held));
  EXPECT_THAT(Spec(held), ::testing::HasSubstr(R"("strategy":"example.com/x")"));
}

}  // namespace
}  // namespace apimesh::core_api
