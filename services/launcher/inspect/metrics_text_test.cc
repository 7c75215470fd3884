#include "services/launcher/inspect/metrics_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

std::vector<MetricSample> Samples(std::string_view text) {
  std::vector<MetricSample> samples;
  ForEachSample(text, [&](const MetricSample& sample) { samples.push_back(sample); });
  return samples;
}

TEST(MetricsText, SamplesHaveNamesLabelsAndValues) {
  constexpr std::string_view kText =
      "# HELP a text\n# TYPE a counter\na{le=\"+Inf\",file=\"x\"} 3\nb 0.5\nc{text=\"a \\\"quoted\\\", "
      "b=\\\"no\\\"\",b=\"yes\"} +Inf\n";
  const std::vector<MetricSample> samples = Samples(kText);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].name, "a");
  EXPECT_EQ(samples[0].Label("le"), "+Inf");
  EXPECT_EQ(samples[0].Label("e"), "");  // the end of two labels' names
  EXPECT_EQ(samples[0].value, 3);
  EXPECT_EQ(samples[1].name, "b");
  EXPECT_EQ(samples[1].value, 0.5);
  EXPECT_EQ(samples[2].Label("b"), "yes");
  EXPECT_GT(samples[2].value, 1e300);
}

TEST(MetricsText, OtherLinesAreIgnored) {
  EXPECT_TRUE(Samples("").empty());
  EXPECT_TRUE(Samples("a\na{b=\"c\" 1\na x\n\n#\n").empty());
  for (const MetricSample& sample : Samples("a{b=\"c} 1\na{b} 1\na{=\"\"} 1\na{} 1\n"))
    EXPECT_EQ(sample.Label("b"), "");
}

}  // namespace
}  // namespace apimesh::launcher
