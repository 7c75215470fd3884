#include "lib/patch/apply/managed_fields.h"

#include <gtest/gtest.h>

#include "lib/meta/time.h"
#include "lib/schema/builtin.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

meta::Object Parse(const char* text) { return meta::Object(json::parse(text).as_object()); }

std::string Fields(const meta::Object& object, std::size_t index) {
  return json::serialize(object.Metadata().at("managedFields").at(index).at("fieldsV1"));
}

ManagerInfo By(std::string manager, std::string version = "golden.io/v1") {
  return {std::move(manager), std::move(version), "", *meta::ParseTime("2026-01-01T00:00:00Z"), {}};
}

/// Without a schema, objects merge key by key, lists are atomic, and every key is a member (observed on
/// kube-apiserver).
TEST(ManagedFields, FollowTheValuesWithoutASchema) {
  const schema::Node any;
  meta::Object widget = Parse(
      R"({"apiVersion":"golden.io/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":{"b":1},"l":[1,{"x":2}],"e":{}}})");
  ASSERT_TRUE(UpdateManagedFields(nullptr, widget, any, By("creator"), {}));
  EXPECT_EQ(Fields(widget, 0), R"({"f:spec":{".":{},"f:a":{".":{},"f:b":{}},"f:e":{},"f:l":{}}})");
  const meta::Object config = Parse(
      R"({"apiVersion":"golden.io/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":{"c":2},"l":[1,{"x":2}],"m":[{"q":1}],"z":{"y":{"x":1}}}})");
  const meta::Result<meta::Object> applied = Apply(widget, config, any, By("applier"), false, {});
  ASSERT_TRUE(applied) << applied.error().Message();
  EXPECT_EQ(Fields(*applied, 0),
            R"({"f:spec":{".":{},"f:a":{".":{},"f:c":{}},"f:l":{},"f:m":{},"f:z":{".":{},"f:y":{".":{},"f:x":{}}}}})");
  EXPECT_EQ(json::serialize(applied->Root().at("spec")),
            R"({"a":{"b":1,"c":2},"l":[1,{"x":2}],"e":{},"m":[{"q":1}],"z":{"y":{"x":1}}})");
}

/// Ownership recorded in another API version is compared with the change in that version; owners of versions that no
/// longer exist are dropped.
TEST(ManagedFields, ConvertForOtherVersions) {
  const schema::Node any;
  meta::Object live = Parse(R"({"apiVersion":"g/v1","kind":"W","metadata":{"uid":"u","managedFields":[
      {"manager":"old","operation":"Update","apiVersion":"g/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:old":{},"f:same":{}}},
      {"manager":"gone","operation":"Update","apiVersion":"g/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{"f:x":{}}}]},
      "new":1,"same":1})");
  meta::Object updated = Parse(R"({"apiVersion":"g/v1","kind":"W","metadata":{"uid":"u"},"new":2,"same":1})");
  ManagerInfo info = By("updater", "g/v1");
  info.convert = [&](const meta::Object& object, std::string_view version) -> std::optional<ManagerInfo::View> {
    if (version != "g/v1beta1") return std::nullopt;
    ManagerInfo::View view{&any, object};
    view.object.Root()["old"] = view.object.Root().at("new");
    meta::EraseField(view.object.Root(), "new");
    return view;
  };
  ASSERT_TRUE(UpdateManagedFields(&live, updated, any, info, {}));
  ASSERT_EQ(updated.Metadata().at("managedFields").as_array().size(), 2u);
  EXPECT_EQ(Fields(updated, 0), R"({"f:same":{}})");
  EXPECT_EQ(Fields(updated, 1), R"({"f:new":{}})");
}

/// An applier that changes its API version keeps the fields that it still mentions, even if they had another name in
/// its previous version.
TEST(ManagedFields, PruneInTheVersionOfEachOwner) {
  const schema::Node any;
  const meta::Object live = Parse(R"({"apiVersion":"g/v1","kind":"W","metadata":{"name":"w","uid":"u","managedFields":[
      {"manager":"applier","operation":"Apply","apiVersion":"g/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:old":{},"f:extra":{},"f:shared":{}}},
      {"manager":"other","operation":"Update","apiVersion":"g/v1","fieldsType":"FieldsV1","fieldsV1":{"f:shared":{}}}]},
      "new":1,"extra":1,"shared":1})");
  const meta::Object config = Parse(R"({"apiVersion":"g/v1","kind":"W","metadata":{"name":"w"},"new":1})");
  ManagerInfo info = By("applier", "g/v1");
  info.convert = [&](const meta::Object& object, std::string_view version) -> std::optional<ManagerInfo::View> {
    ManagerInfo::View view{&any, object};
    json::object& root = view.object.Root();
    const std::string from = version == "g/v1" ? "old" : "new", to = version == "g/v1" ? "new" : "old";
    if (const json::value* value = root.if_contains(from)) {
      root[to] = json::value(*value);
      meta::EraseField(root, from);
    }
    root["apiVersion"] = version;
    return view;
  };
  const meta::Result<meta::Object> applied = Apply(live, config, any, info, false, {});
  ASSERT_TRUE(applied) << applied.error().Message();
  EXPECT_TRUE(applied->Root().contains("new"));
  EXPECT_TRUE(applied->Root().contains("shared"));
  EXPECT_FALSE(applied->Root().contains("extra"));
  EXPECT_FALSE(applied->Root().contains("old"));
}

TEST(ManagedFields, BrokenEntriesOfAClientChangeNothing) {
  const schema::Node any;
  const char* entry =
      R"([{"manager":"a","operation":"Update","apiVersion":"v1","time":"2025-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:x":{}}}])";
  meta::Object live = Parse(R"({"metadata":{"uid":"u"},"x":1})");
  live.Metadata()["managedFields"] = json::parse(entry);
  for (const char* bad :
       {R"([{"operation":"X"}])", R"([1])", R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"Y"}])", "5"}) {
    meta::Object updated = Parse(R"({"metadata":{"uid":"u"},"x":1})");
    updated.Metadata()["managedFields"] = json::parse(bad);
    ASSERT_TRUE(UpdateManagedFields(&live, updated, any, By("b", "v1"), {}));
    EXPECT_EQ(json::serialize(updated.Metadata().at("managedFields")), json::serialize(json::parse(entry))) << bad;
  }
}

TEST(ManagedFields, ManyManagersTakeTimeInProportion) {
  const schema::Node any;
  json::array entries;
  for (int i = 0; i < 20'000; ++i) {
    entries.push_back({{"manager", "m" + std::to_string(i)},
                       {"operation", i % 2 ? "Apply" : "Update"},
                       {"apiVersion", "golden.io/v1"},
                       {"time", "2026-01-01T00:00:00Z"},
                       {"fieldsType", "FieldsV1"},
                       {"fieldsV1", {{"f:spec", {{"f:k" + std::to_string(i), json::object()}}}}}});
  }
  meta::Object widget = Parse(R"({"apiVersion":"golden.io/v1","kind":"Widget","metadata":{"name":"w"},"spec":{}})");
  json::object& spec = widget.Root()["spec"].get_object();
  for (int i = 0; i < 20'000; ++i) spec["k" + std::to_string(i)] = 1;
  meta::Object live = widget;
  live.Metadata()["managedFields"] = entries;
  live.Metadata()["uid"] = "u";
  widget.Root()["spec"].get_object()["k1"] = 2;
  ASSERT_TRUE(UpdateManagedFields(&live, widget, any, By("updater"), {}));
  EXPECT_EQ(widget.Metadata().at("managedFields").as_array().size(), 10'000u - 1 + 10)
      << "appliers, one of which lost its field, and ten updaters";

  meta::Object config = Parse(R"({"apiVersion":"golden.io/v1","kind":"Widget","metadata":{"name":"w"},"spec":{}})");
  for (int i = 0; i < 20'000; ++i) config.Root()["spec"].get_object()["k" + std::to_string(i)] = 3;
  const meta::Result<meta::Object> applied = Apply(live, config, any, By("applier"), false, {});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().Code(), 409);
  EXPECT_EQ(applied.error().Get().causes.size(), 1000u);
  EXPECT_TRUE(applied.error().Message().starts_with("Apply failed with 20000 conflicts: "))
      << applied.error().Message().substr(0, 100);
  EXPECT_TRUE(applied.error().Message().ends_with("\n- too many conflicts"));
}

TEST(ManagedFields, RepeatedItemsTakeTimeInProportion) {
  const schema::Node& pod = *schema::Builtin().Find("io.k8s.api.core.v1.Pod");
  meta::Object live = Parse(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":[{"name":"c","env":[]}]}})");
  json::array& env = live.Root().at("spec").at("containers").at(0).at("env").as_array();
  for (int i = 0; i < 20'000; ++i) env.push_back({{"name", "n" + std::to_string(i / 2)}, {"value", std::to_string(i)}});
  meta::Object updated = live;
  updated.Root().at("spec").at("containers").at(0).at("env").at(0).as_object()["value"] = "x";
  live.Metadata()["uid"] = "u";
  live.Metadata()["managedFields"] = json::parse(
      R"([{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}])");
  ASSERT_TRUE(UpdateManagedFields(&live, updated, pod, By("updater", "v1"), {}));
  EXPECT_EQ(Fields(updated, 1),
            R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:env":{"k:{\"name\":\"n0\"}":{}}}}}})");
}

}  // namespace
}  // namespace apimesh::patch
