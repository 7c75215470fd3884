// A table printer gets only the fields that it declares to read, and its rows are cached for as long as it declares.
// These tests check that the cells are the same as with the complete object, and at any time until a row expires.
#include <random>

#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/codec/json/json_parts.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Generates random objects of a schema, with words that table printers check for.
class Filler {
 public:
  explicit Filler(unsigned seed) : random_(seed) {}

  json::value Value(const schema::Node& node, int depth) {
    switch (node.type) {
      case schema::Type::kObject: {
        json::object object;
        for (const schema::Field& field : node.fields) {
          if (depth < 8 && Pick(4) != 0) object[field.name] = Value(*field.schema, depth + 1);
        }
        return object;
      }
      case schema::Type::kMap: {
        json::object object;
        for (const char* key : {"app", "node-role.kubernetes.io/worker", "kubernetes.io/role"}) {
          if (Pick(2)) object[key] = Value(*node.items, depth + 1);
        }
        return object;
      }
      case schema::Type::kList: {
        json::array list;
        for (std::size_t i = Pick(4); i > 0 && depth < 8; --i) list.push_back(Value(*node.items, depth + 1));
        return list;
      }
      case schema::Type::kInteger: return static_cast<std::int64_t>(Pick(3));
      case schema::Type::kNumber: return 1.5;
      case schema::Type::kBoolean: return Pick(2) == 1;
      case schema::Type::kTime:
      case schema::Type::kMicroTime: return Pick(2) ? "2026-01-01T00:00:00Z" : "2026-03-01T00:00:00Z";
      default: return kWords[Pick(std::size(kWords))];
    }
  }

 private:
  static constexpr const char* kWords[] = {"",
                                           "a",
                                           "b",
                                           "Always",
                                           "True",
                                           "False",
                                           "Ready",
                                           "Initialized",
                                           "PodScheduled",
                                           "SchedulingGated",
                                           "Running",
                                           "Completed",
                                           "Succeeded",
                                           "PodInitializing",
                                           "NodeLost",
                                           "LoadBalancer",
                                           "ClusterIP",
                                           "ExternalName",
                                           "User",
                                           "ServiceAccount",
                                           "InternalIP",
                                           "Healthy",
                                           "10.0.0.1"};
  std::size_t Pick(std::size_t count) { return random_() % count; }
  std::mt19937 random_;
};

struct CellsText {
  std::string text;
  WallTime until;
};
CellsText CellsAt(const registry::Resource& resource, const meta::Object& object, WallTime now) {
  meta::Ages ages(now);
  std::string text = codec::WriteJson(resource.table.cells(object, ages));
  return {std::move(text), ages.Until()};
}

TEST(Tables, ReadNoMoreThanTheySay) {
  std::size_t limited = 0;
  for (const registry::Resource& resource : AllResources({})) {
    if (resource.table.columns.empty()) continue;
    if (!resource.table.reads.Everything()) ++limited;
    for (unsigned seed = 0; seed < 300; ++seed) {
      const std::string text = codec::WriteJson(Filler(seed).Value(*resource.schema, 0));
      const meta::Object whole(codec::ParseJson(text, {})->as_object());
      const meta::Object parts(codec::ParseJsonParts(text, resource.table.reads, {})->as_object());
      const WallTime now = WallTime(std::chrono::hours(24 * 365 * 60));
      ASSERT_EQ(CellsAt(resource, parts, now).text, CellsAt(resource, whole, now).text)
          << resource.gvk.kind << " " << seed << " " << text;
    }
  }
  EXPECT_GE(limited, 14u);
}

TEST(Tables, HoldAsLongAsTheySay) {
  using namespace std::chrono_literals;
  // Ages of the times in the objects of Filler, one for each unit in which an age is shown.
  const std::chrono::seconds spans[] = {-5s, 0s,   90s,      5min,          20min,        4h,
                                        30h, 100h, 24h * 30, 24h * 365 * 3, 24h * 365 * 9};
  std::size_t changed = 0;
  for (const registry::Resource& resource : AllResources({})) {
    if (resource.table.columns.empty()) continue;
    for (unsigned seed = 0; seed < 40; ++seed) {
      const meta::Object object(Filler(seed).Value(*resource.schema, 0).as_object());
      for (const std::chrono::seconds span : spans) {
        const WallTime now =
            *meta::ParseTime(seed % 2 ? "2026-01-01T00:00:00Z" : "2026-03-01T00:00:00Z") + span + 300ms;
        const CellsText cells = CellsAt(resource, object, now);
        if (cells.until == WallTime::max()) continue;
        ASSERT_GT(cells.until, now);
        for (const WallTime later : {now + (cells.until - now) / 2, cells.until - 1ns}) {
          ASSERT_EQ(CellsAt(resource, object, later).text, cells.text)
              << resource.gvk.kind << " " << seed << " " << span.count();
        }
        if (CellsAt(resource, object, cells.until).text != cells.text) ++changed;
      }
    }
  }
  EXPECT_GE(changed, 1000u) << "and not less long";
}

}  // namespace
}  // namespace apimesh::core_api
