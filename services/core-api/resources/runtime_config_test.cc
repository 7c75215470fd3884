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

TEST(IsServed, VersionsThatAreNotStableAreOffByDefault) {
  const meta::Gvr beta{"storage.k8s.io", "v1beta1", "volumeattributesclasses"};
  const meta::Gvr alpha{"resource.k8s.io", "v1alpha3", "devicetaintrules"};
  const struct {
    std::vector<std::string> config;
    bool beta, alpha;
  } cases[] = {
      {{}, false, false},
      {{"api/all"}, true, true},
      {{"api/beta=true"}, true, false},
      {{"api/alpha=true"}, false, true},
      {{"api/ga=true"}, false, false},
      {{"api/all=true", "api/beta=false"}, false, true},
      {{"storage.k8s.io/v1beta1=true"}, true, false},
      {{"resource.k8s.io/v1alpha3/devicetaintrules=true"}, false, true},
      {{"resource.k8s.io/v1alpha3=true", "resource.k8s.io/v1alpha3/devicetaintrules=false"}, false, false},
      {{"api/legacy=true"}, false, false},
  };
  for (const auto& c : cases) {
    const std::string shown = c.config.empty() ? "" : c.config[0];
    EXPECT_EQ(IsServed(c.config, beta), c.beta) << shown;
    EXPECT_EQ(IsServed(c.config, alpha), c.alpha) << shown;
  }
}

}  // namespace
}  // namespace apimesh::core_api
