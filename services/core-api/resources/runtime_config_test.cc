#include "services/core-api/resources/runtime_config.h"

#include <gtest/gtest.h>

namespace apimesh::core_api {
namespace {

TEST(IsServed, FollowsTheMostSpecialElement) {
  const meta::Gvr jobs{"batch", "v1", "jobs"}, cron_jobs{"batch", "v1", "cronjobs"}, pods{"", "v1", "pods"};
  const struct {
    std::vector<std::string> config;
    bool jobs, cron_jobs, pods;
  } cases[] = {
      {{}, true, true, true},
      {{"batch/v1=false"}, false, false, true},
      {{"batch/v1/jobs=false"}, false, true, true},
      {{"batch/v1=false", "batch/v1/jobs=true"}, true, false, true},
      {{"batch/v1=false", "batch/v1"}, true, true, true},
      {{"api/all=false", "api/v1=true"}, false, false, true},
      {{"api/all=false", "v1"}, false, false, true},
      {{"api/all=true", "api/ga=0"}, false, false, false},
      {{"api/beta=false", "api/alpha=false"}, true, true, true},
  };
  for (const auto& c : cases) {
    const std::string shown = c.config.empty() ? "" : c.config[0];
    EXPECT_EQ(IsServed(c.config, jobs), c.jobs) << shown;
    EXPECT_EQ(IsServed(c.config, cron_jobs), c.cron_jobs) << shown;
    EXPECT_EQ(IsServed(c.config, pods), c.pods) << shown;
  }
}

}  // namespace
}  // namespace apimesh::core_api
