#include "lib/storage/entry/entry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace apimesh::storage {
namespace {

CachedEntryPtr Make(const std::string& name, const std::string& app) {
  static const auto recipe = std::make_shared<const EntryRecipe>(ResourceConfig{});
  const auto made = CachedEntry::FromJson(
      recipe, "ns/" + name, 7, fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"app":"{}"}}}}}})", name, app));
  EXPECT_TRUE(made);
  return *made;
}

TEST(CachedEntry, ObjectsWithTheSameLabelsShareThem) {
  const CachedEntryPtr one = Make("one", "web"), two = Make("two", "web"), other = Make("other", "database");
  EXPECT_EQ(&one->GetLabels(), &two->GetLabels());
  EXPECT_EQ(one->GetLabels(), (meta::Labels{{"app", "web"}}));
  EXPECT_EQ(other->GetLabels(), (meta::Labels{{"app", "database"}}));
  for (int i = 0; i < 1000; ++i) {  // more than the table remembers; each object has correct attributes anyway
    const std::string app = fmt::format("app-{}", i);
    ASSERT_EQ(Make("many", app)->GetLabels(), (meta::Labels{{"app", app}}));
  }
  EXPECT_EQ(Make("three", "web")->GetLabels(), one->GetLabels());
}

}  // namespace
}  // namespace apimesh::storage
