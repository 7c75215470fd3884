#include "services/aggregator/health/chain_health.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

TEST(ChainHealth, ReportsAreMergedWithShutdownLast) {
  struct Case {
    const char *own, *other, *merged;
  };
  const Case cases[] = {
      {"[+]ping ok\n[+]shutdown ok\nreadyz check passed\n",
       "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nreadyz check passed\n", "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\n"},
      {"[+]ping ok\n", "[-]ping failed: reason withheld\n[-]poststarthook/x failed: reason withheld\n",
       "[-]ping failed: reason withheld\n[-]poststarthook/x failed: reason withheld\n"},
      {"[+]ping ok\n[+]shutdown ok\n", "[-]shutdown failed: reason withheld\n",
       "[+]ping ok\n[-]shutdown failed: reason withheld\n"},
      {"", "[+]etcd excluded: ok\n", "[+]etcd excluded: ok\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(MergeReports(c.own, c.other), c.merged);
}

}  // namespace
}  // namespace apimesh::aggregator
