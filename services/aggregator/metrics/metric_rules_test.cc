#include "services/aggregator/metrics/metric_rules.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace apimesh::aggregator {
namespace {

MetricRules Rules(std::vector<std::string> allow, std::string manifest = "") {
  MetricsOptions options;
  options.allow_labels = std::move(allow);
  options.allow_labels_manifest = std::move(manifest);
  return MetricRules(options);
}

TEST(MetricRules, OtherValuesBecomeUnexpected) {
  const MetricRules rules = Rules({"calls,verb=GET,LIST", "calls,code=200"});
  EXPECT_EQ(rules.Constrain("calls", R"(calls{verb="GET",code="404",host="a"})"),
            R"(calls{verb="GET",code="unexpected",host="a"})");
  EXPECT_EQ(rules.Constrain("calls", R"(calls_bucket{verb="a\"},b",le="1"})"),
            R"(calls_bucket{verb="unexpected",le="1"})");
  EXPECT_EQ(rules.Constrain("calls", "calls"), "calls");
  EXPECT_EQ(rules.Constrain("others", R"(others{verb="x"})"), R"(others{verb="x"})");
}

TEST(MetricRules, SeveralPairsAreInQuotes) {
  const MetricRules rules = Rules({R"("calls,verb=GET,LIST","calls,code=200")"});
  EXPECT_EQ(rules.Constrain("calls", R"(calls{verb="PUT",code="200"})"), R"(calls{verb="unexpected",code="200"})");
}

TEST(MetricRules, InvalidOptionsAreRefused) {
  EXPECT_THROW(Rules({"calls,verb"}), std::runtime_error);
  EXPECT_THROW(Rules({"calls=GET"}), std::runtime_error);
  EXPECT_THROW(Rules({}, "/nonexistent/file"), std::runtime_error);
}

TEST(MetricRules, TheManifestHasTheSameForm) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / fmt::format("metric_rules_{}.yaml", ::getpid());
  std::ofstream(file) << "allowListMapping:\n  \"calls,verb\": \"GET,LIST\"\n";
  EXPECT_EQ(Rules({}, file).Constrain("calls", R"(calls{verb="PUT"})"), R"(calls{verb="unexpected"})");
  EXPECT_EQ(Rules({"calls,code=200"}, file).Constrain("calls", R"(calls{verb="PUT"})"), R"(calls{verb="PUT"})");
  std::filesystem::remove(file);
}

TEST(MetricRules, DisabledMetricsAreCounted) {
  MetricsOptions options;
  options.disabled = {"a_total", "", "b", "a_total"};
  const MetricRules rules(options);
  EXPECT_TRUE(rules.Disabled("a_total"));
  EXPECT_FALSE(rules.Disabled("a"));
  EXPECT_EQ(rules.DisabledCount(), 2U);
}

}  // namespace
}  // namespace apimesh::aggregator
