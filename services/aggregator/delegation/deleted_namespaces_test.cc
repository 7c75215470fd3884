#include "services/aggregator/delegation/deleted_namespaces.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

constexpr Duration kInstant = std::chrono::milliseconds(1);

TEST(DeletedNamespaces, AreRememberedForHalfAMinute) {
  DeletedNamespaces deleted;
  const SteadyTime start{};
  EXPECT_FALSE(deleted.Contains("a", start));
  deleted.Add("a", start);
  EXPECT_TRUE(deleted.Contains("a", start));
  EXPECT_FALSE(deleted.Contains("b", start));
  EXPECT_TRUE(deleted.Contains("a", start + DeletedNamespaces::kRemembered - kInstant));
  EXPECT_FALSE(deleted.Contains("a", start + DeletedNamespaces::kRemembered));
}

TEST(DeletedNamespaces, ExpireOneByOne) {
  DeletedNamespaces deleted;
  const SteadyTime start{}, later = start + std::chrono::seconds(20);
  deleted.Add("a", start);
  deleted.Add("b", later);
  const SteadyTime end = start + DeletedNamespaces::kRemembered;
  EXPECT_FALSE(deleted.Contains("a", end));
  EXPECT_TRUE(deleted.Contains("b", end));
  deleted.Add("a", end);  // a namespace of this name was created and deleted again
  EXPECT_TRUE(deleted.Contains("a", end + kInstant));
}

}  // namespace
}  // namespace apimesh::aggregator
