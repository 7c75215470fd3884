#include "services/aggregator/diagnostics/health_slis.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

TEST(HealthSlis, CountsResultsByCheckAndType) {
  HealthSlis slis{WallTime(std::chrono::seconds(1700000000))};
  slis.Observe("livez", "ping", true);
  slis.Observe("livez", "ping", true);
  slis.Observe("readyz", "etcd", true);
  slis.Observe("readyz", "etcd", false);
  const std::string text = slis.Text();
  for (const char* line : {"kubernetes_healthcheck{name=\"ping\",type=\"livez\"} 1\n",
                           "kubernetes_healthcheck{name=\"etcd\",type=\"readyz\"} 0\n",
                           "kubernetes_healthchecks_total{name=\"ping\",status=\"success\",type=\"livez\"} 2\n",
                           "kubernetes_healthchecks_total{name=\"etcd\",status=\"error\",type=\"readyz\"} 1\n",
                           "kubernetes_healthchecks_total{name=\"etcd\",status=\"success\",type=\"readyz\"} 1\n",
                           "\nprocess_start_time_seconds 1700000000\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("name=\"ping\",status=\"error\""), std::string::npos);
  slis.Reset();
  EXPECT_EQ(slis.Text().find("kubernetes_"), std::string::npos);
}

}  // namespace
}  // namespace apimesh::aggregator
