#include "services/core-api/groups/core/limitrange/limitrange.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using Strings = std::vector<std::string>;

std::string Limits(std::string_view items) { return fmt::format(R"({{"spec":{{"limits":[{}]}}}})", items); }

TEST(LimitRange, DefaultsOfContainers) {
  const meta::Object range =
      Defaulted(LimitRangeResource({}), Limits(R"({"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"}})"));
  EXPECT_EQ(JsonAt(range, "spec", "limits"),
            R"([{"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"},"default":{"cpu":"2"},)"
            R"("defaultRequest":{"cpu":"2","memory":"1Mi"}}])");
}

struct BadCase {
  const char* items;
  const char* want;
};
const BadCase kBad[] = {
    {R"({"type":"X"})", R"(limits[0].type: Invalid value: "X": must be a standard limit type or fully qualified)"},
    {R"({"type":"Pod"},{"type":"Pod"})", R"(limits[1].type: Duplicate value: "Pod")"},
    {R"({"type":"Pod","default":{"cpu":"1"}})",
     "limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"},
    {R"({"type":"Pod","max":{"cpu":"1"},"min":{"cpu":"2"}})",
     R"(limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1)"},
    {R"({"type":"Pod","max":{"cpu":"3"},"min":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"2"}})",
     R"(limits[0].maxLimitRequestRatio[cpu]: Invalid value: "2": ratio 2 is greater than max/min = 1.500000)"},
};

TEST(LimitRange, Rules) {
  for (const BadCase& bad : kBad)
    EXPECT_EQ(CreateErrors(LimitRangeResource({}), Limits(bad.items)), Strings{std::string("spec.") + bad.want});
}

}  // namespace
}  // namespace apimesh::core_api
