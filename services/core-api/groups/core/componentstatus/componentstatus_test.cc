#include "services/core-api/groups/core/componentstatus/componentstatus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/run.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using apimesh::testing::RunTask;

struct ComponentStatusTest : ::testing::Test {
  ComponentProbe Answering(bool healthy, std::string message) {
    return [this, healthy, message](SteadyTime deadline) -> Task<ComponentHealth> {
      deadlines.push_back(deadline - clock.Steady());
      co_return ComponentHealth{healthy, message};
    };
  }
  storage::StorePtr Store() {
    return ComponentStatusStore({{"etcd-0", Answering(true, "ok")}, {"scheduler", Answering(false, "refused")}},
                                &clock);
  }
  std::string Get(const std::string& name) {
    const auto entry = RunTask(Store()->Get({}, storage::Key{name}, {}));
    return entry ? std::string((*entry)->JsonText())
                 : fmt::format("{} {}", entry.error().Code(), entry.error().Message());
  }
  Strings List(storage::ListOptions options) {
    Strings names;
    const auto cursor = RunTask(Store()->List({}, std::move(options)));
    if (!cursor) return {cursor.error().Message()};
    for (const storage::EntryPtr& entry : (*cursor)->Next(10)) names.push_back(entry->GetKey().text);
    EXPECT_TRUE((*cursor)->Next(10).empty());
    return names;
  }

  apimesh::testing::ManualClock clock;
  std::vector<SteadyTime::duration> deadlines;
};

TEST_F(ComponentStatusTest, AReadProbesTheComponent) {
  EXPECT_EQ(Get("etcd-0"), R"({"kind":"ComponentStatus","apiVersion":"v1","metadata":{"name":"etcd-0"},)"
                           R"("conditions":[{"type":"Healthy","status":"True","message":"ok"}]})");
  EXPECT_EQ(Get("scheduler"), R"({"kind":"ComponentStatus","apiVersion":"v1","metadata":{"name":"scheduler"},)"
                              R"("conditions":[{"type":"Healthy","status":"False","message":"refused"}]})");
  EXPECT_THAT(deadlines, ::testing::Each(std::chrono::seconds(20)));
  EXPECT_EQ(deadlines.size(), 2u);
}

TEST_F(ComponentStatusTest, OtherNamesAreNotFound) {
  EXPECT_EQ(Get("kubelet"), R"(404 componentstatus "kubelet" not found)");
  EXPECT_TRUE(deadlines.empty());
}

TEST_F(ComponentStatusTest, AListHasTheComponentsThatMatchTheSelectors) {
  EXPECT_EQ(List({}), (Strings{"etcd-0", "scheduler"}));
  storage::ListOptions by_name;
  by_name.fields = *meta::FieldSelector::Parse("metadata.name=scheduler");
  EXPECT_EQ(List(std::move(by_name)), Strings{"scheduler"});
  storage::ListOptions by_label;
  by_label.labels = *meta::LabelSelector::Parse("a=b");
  EXPECT_EQ(List(std::move(by_label)), Strings());
}

TEST(ComponentStatus, Table) {
  EXPECT_EQ(Row(ComponentStatusResource({}),
                R"({"metadata":{"name":"a"},"conditions":[{"type":"Healthy","status":"True","message":"ok"}]})"),
            R"(["a","Healthy","ok",""])");
  EXPECT_EQ(Row(ComponentStatusResource({}),
                R"({"metadata":{"name":"a"},"conditions":[{"type":"Healthy","status":"False","error":"e"}]})"),
            R"(["a","Unhealthy","","e"])");
}

}  // namespace
}  // namespace apimesh::core_api
