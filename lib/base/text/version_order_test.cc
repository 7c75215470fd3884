#include "lib/base/text/version_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(VersionComesBefore, StableFirstThenNewest) {
  const std::vector<std::string> want{"v10",     "v2",        "v1",        "v11beta2", "v10beta3",
                                      "v3beta1", "v12alpha1", "v11alpha2", "foo1",     "foo10"};
  std::vector<std::string> versions(want.rbegin(), want.rend());
  std::sort(versions.begin(), versions.end(), VersionComesBefore);
  EXPECT_EQ(versions, want);
}

}  // namespace
}  // namespace apimesh
