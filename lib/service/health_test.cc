#include "lib/service/health.h"

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::service {
namespace {

std::string Body(const mesh::Response& response) {
  std::string text;
  for (const auto& piece : response.body) text += piece.View();
  return text;
}

struct Case {
  const char* name;
  const char* path;
  const char* query;
  int code;
  const char* body;
};
const Case kCases[] = {
    {"Short", "/livez", "", 200, "ok"},
    {"Verbose", "/livez", "verbose", 200, "[+]ping ok\n[+]poststarthook/a ok\nlivez check passed\n"},
    {"VerboseWithValue", "/livez", "verbose=true", 200, "[+]ping ok\n[+]poststarthook/a ok\nlivez check passed\n"},
    {"FailureIsAlwaysVerbose", "/readyz", "", 500,
     "[+]ping ok\n[-]etcd failed: reason withheld\n[+]poststarthook/a ok\n[+]shutdown ok\nreadyz check failed\n"},
    {"Exclude", "/readyz", "exclude=etcd", 200, "ok"},
    {"ExcludeUnknown", "/readyz", "verbose&exclude=etcd&exclude=foo&exclude=bar", 200,
     "[+]ping ok\n[+]etcd excluded: ok\n[+]poststarthook/a ok\n[+]shutdown ok\n"
     "warn: some health checks cannot be excluded: no matches for \"bar\",\"foo\"\nreadyz check passed\n"},
    {"ExcludeEncoded", "/livez", "verbose&exclude=poststarthook%2Fa", 200,
     "[+]ping ok\n[+]poststarthook/a excluded: ok\nlivez check passed\n"},
    {"OneCheck", "/healthz/ping", "", 200, "ok"},
    {"OneHook", "/healthz/poststarthook/a", "", 200, "ok"},
    {"OneFailed", "/readyz/etcd", "", 500, "internal server error: no leader\n"},
};
class HealthAnswers : public ::testing::TestWithParam<Case> {};

TEST_P(HealthAnswers, AsTheReferenceDoes) {
  HealthChecks health;
  health.Add("etcd", [] { return std::string("no leader"); }, HealthChecks::kReadyz);
  health.AddPostStartHook("a")();
  const auto response = health.Answer(GetParam().path, GetParam().query);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->code, GetParam().code);
  EXPECT_EQ(Body(*response), GetParam().body);
}
INSTANTIATE_TEST_SUITE_P(Table, HealthAnswers, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HealthChecks, OtherPathsAreNotItsOwn) {
  const HealthChecks health;
  for (const char* path : {"/", "/livezz", "/readyz/nope", "/livez/shutdown", "/api"})
    EXPECT_FALSE(health.Answer(path, "")) << path;
}

TEST(HealthChecks, HookFailsUntilItIsDone) {
  HealthChecks health;
  const auto done = health.AddPostStartHook("rbac/bootstrap-roles");
  EXPECT_EQ(Body(*health.Answer("/healthz/poststarthook/rbac/bootstrap-roles", "")),
            "internal server error: not finished\n");
  done();
  EXPECT_EQ(health.Answer("/healthz", "")->code, 200);
}

TEST(HealthChecks, ShutdownTurnsReadinessOffAndNothingElse) {
  HealthChecks health;
  health.BeginShutdown();
  EXPECT_EQ(health.Answer("/readyz", "")->code, 500);
  EXPECT_EQ(health.Answer("/livez", "")->code, 200);
  EXPECT_EQ(health.Answer("/healthz", "")->code, 200);
}

TEST(HealthChecks, WaitForHooksAtLivezAfterTheGracePeriod) {
  testing::ManualClock clock;
  HealthChecks health;
  health.SetLivezGrace(clock, clock.Steady() + std::chrono::seconds(10));
  health.AddPostStartHook("a");
  health.Add("etcd", [] { return std::string(); });
  EXPECT_EQ(health.Answer("/livez", "")->code, 200);
  EXPECT_EQ(health.Answer("/livez/poststarthook/a", "")->code, 200);
  EXPECT_EQ(health.Answer("/readyz", "")->code, 500);
  EXPECT_EQ(health.Answer("/healthz", "")->code, 500);
  clock.Advance(std::chrono::seconds(10));
  EXPECT_EQ(health.Answer("/livez", "")->code, 500);
}

}  // namespace
}  // namespace apimesh::service
