#include "services/aggregator/filters/cache_control/cache_control.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using CacheControlTest = FilterTest;

TEST_F(CacheControlTest, NoCacheKeepsAnAnswer) {
  Run(MakeCacheControl(inputs));
  EXPECT_EQ(response.Header("cache-control"), "no-cache, private");
  EXPECT_EQ(response.Header("strict-transport-security"), "");
}

TEST_F(CacheControlTest, SendsTheDirectivesOfStrictTransportSecurity) {
  options.Get<CacheControlOptions>().hsts_directives = {"max-age=31536000", "includeSubDomains"};
  Run(MakeCacheControl(inputs));
  EXPECT_EQ(response.Header("strict-transport-security"), "max-age=31536000; includeSubDomains");
}

}  // namespace
}  // namespace apimesh::aggregator
