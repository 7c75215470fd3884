#include "services/launcher/usage/suggestions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SimilarNames, AreTheNearestOnes) {
  const std::vector<std::string> names = {"up", "down", "status", "store", "logs", "kubectl", "completion"};
  EXPECT_THAT(SimilarNames("stauts", names), ElementsAre("status"));
  EXPECT_THAT(SimilarNames("stat", names), ElementsAre("status"));
  EXPECT_THAT(SimilarNames("st", names), ElementsAre("store", "status"));
  EXPECT_THAT(SimilarNames("kubctl", names), ElementsAre("kubectl"));
  EXPECT_THAT(SimilarNames("donw", names), ElementsAre("down"));
  EXPECT_THAT(SimilarNames("ip", names), ElementsAre("up"));
  EXPECT_THAT(SimilarNames("install", names), IsEmpty());
  EXPECT_THAT(SimilarNames("", names), IsEmpty());
  EXPECT_THAT(SimilarNames(std::string(1'000'000, 's'), names), IsEmpty());
}

}  // namespace
}  // namespace apimesh::launcher
