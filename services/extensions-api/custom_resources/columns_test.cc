#include "services/extensions-api/custom_resources/columns.h"

#include <gtest/gtest.h>

#include "lib/meta/time.h"
#include "services/extensions-api/custom_resources/json_path.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

const json::value kDocument =
    json::parse(R"({"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"a.b/c":"x"}},
  "spec":{"n":2,"f":1.5,"list":[{"k":"x","v":1},{"k":"y","v":2}],"s":"text"},"status":{"conditions":[{"type":"A","status":"0"},{"type":"Ready","status":"True"}]}})");

struct PathCase {
  const char* path;
  const char* want;
};
class JsonPaths : public ::testing::TestWithParam<PathCase> {};
TEST_P(JsonPaths, FindTheFirstMatch) {
  const std::optional<JsonPath> path = JsonPath::Parse(GetParam().path);
  const json::value* found = path ? path->First(kDocument.get_object()) : nullptr;
  EXPECT_EQ(found ? json::serialize(*found) : path ? "none" : "bad", GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, JsonPaths,
                         ::testing::Values(PathCase{".spec.n", "2"}, PathCase{".spec['s']", "\"text\""},
                                           PathCase{R"(.metadata.annotations.a\.b/c)", "\"x\""},
                                           PathCase{".spec.list[1].v", "2"}, PathCase{".spec.list[-1].k", "\"y\""},
                                           PathCase{".spec.list[*].k", "\"x\""},
                                           PathCase{R"(.status.conditions[?(@.type=="Ready")].status)", "\"True\""},
                                           PathCase{".status.conditions[?(@.type=='None')].status", "none"},
                                           PathCase{".spec.list[?(@.v>1)].k", "\"y\""},
                                           PathCase{".spec.nope.x", "none"}, PathCase{".spec.list[9]", "none"},
                                           PathCase{".spec[", "bad"}, PathCase{"spec", "bad"}));

TEST(Columns, HaveTheRequestedTypes) {
  const json::value columns = json::parse(
      R"([{"name":"N","type":"integer","jsonPath":".spec.n"},{"name":"F","type":"integer","jsonPath":".spec.f"},
    {"name":"L","type":"string","jsonPath":".spec.list"},{"name":"S","type":"integer","jsonPath":".spec.s"},{"name":"Nope","type":"string","jsonPath":".spec.no"},
    {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"},{"name":"Bad","type":"date","jsonPath":".spec.s"},{"name":"SN","type":"string","priority":1,"jsonPath":".spec.n"}])");
  const registry::TablePrinter printer = PrinterOf(&columns);
  EXPECT_EQ(printer.columns.size(), 9u);
  EXPECT_EQ(printer.columns[8].priority, 1);
  EXPECT_EQ(printer.columns[1].description, "Custom resource definition column (in JSONPath format): .spec.n");
  const meta::Object object(kDocument.get_object());
  meta::Ages ages(*meta::ParseTime("2026-01-01T00:01:00Z"));
  EXPECT_EQ(json::serialize(printer.cells(object, ages)),
            R"(["a",2,1,"[{\"k\":\"x\",\"v\":1},{\"k\":\"y\",\"v\":2}]",null,null,"60s","<invalid>","2"])");
  EXPECT_EQ(ages.Until(), *meta::ParseTime("2026-01-01T00:01:01Z"));
}

TEST(Columns, AreNameAndAgeByDefault) {
  const registry::TablePrinter printer = PrinterOf(nullptr);
  ASSERT_EQ(printer.columns.size(), 2u);
  EXPECT_EQ(printer.columns[1].type, "date");
}

}  // namespace
}  // namespace apimesh::extensions_api
