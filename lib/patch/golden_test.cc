// Repeats a sequence of writes and compares the results with those of a real kube-apiserver (testdata/make_goldens.py).
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "lib/meta/time.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/patch/patch.h"
#include "lib/schema/builtin.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

json::array LoadGoldens() {
  std::filesystem::path folder = std::filesystem::current_path();
  while (!std::filesystem::exists(folder / "lib/patch/testdata/goldens.json")) {
    if (!folder.has_relative_path())
      throw std::runtime_error("lib/patch/testdata/goldens.json is not above the working folder");
    folder = folder.parent_path();
  }
  std::ifstream file(folder / "lib/patch/testdata/goldens.json");
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str()).as_array();
}

std::string Managed(const json::object& object) {
  const json::value* entries = meta::Find(object, "metadata", "managedFields");
  return entries ? json::serialize(*entries) : "none";
}

/// Returns the time at which the server handled this request: the time of the manager's entry.
WallTime TimeOf(const json::object& answer, std::string_view manager) {
  const json::value* entries = meta::Find(answer, "metadata", "managedFields");
  if (!entries) return {};
  for (const json::value& entry : entries->get_array()) {
    const std::string_view name = meta::FindString(entry.get_object(), "manager");
    const std::string_view time = meta::FindString(entry.get_object(), "time");
    if (name == manager && !time.empty()) return *meta::ParseTime(time);
  }
  return {};
}

void CheckApply(const json::object& test, const schema::Node& node, const ManagerInfo& info, const ResetFields& reset) {
  const json::object& answer = test.at("answer").as_object();
  const meta::Object live(test.at("live").as_object());
  const meta::Object applied(test.at("request").as_object());
  const meta::Result<meta::Object> result = Apply(live, applied, node, info, test.at("force").as_bool(), reset);
  if (meta::FindString(answer, "kind") == "Status") {
    ASSERT_FALSE(result);
    EXPECT_EQ(json::serialize(result.error().ToStatus()), json::serialize(answer));
    return;
  }
  ASSERT_TRUE(result) << result.error().Message();
  EXPECT_EQ(Managed(result->Root()), Managed(answer));
  const auto value = [](const json::value* found) { return found ? *found : json::value(); };
  EXPECT_EQ(value(meta::FindField(result->Root(), "data")), value(meta::FindField(answer, "data")));
  EXPECT_EQ(value(meta::FindField(result->Metadata(), "annotations")),
            value(meta::Find(answer, "metadata", "annotations")));
}

void CheckPatch(const json::object& test, const schema::Node& node) {
  const std::string_view op = meta::FindString(test, "op");
  json::value document = test.at("live");
  if (op == "merge") {
    ApplyMergePatch(document, test.at("request"));
  } else if (op == "json") {
    ASSERT_TRUE(ApplyJsonPatch(document, test.at("request")));
  } else if (op == "strategic") {
    const auto result = ApplyStrategicMergePatch(document.as_object(), test.at("request").as_object(), node);
    ASSERT_TRUE(result) << result.error().Message();
  } else {
    return;
  }
  if (const json::value* spec = meta::FindField(test.at("answer").as_object(), "spec")) {
    EXPECT_EQ(document.as_object().at("spec"), *spec);
  }
}

void CheckUpdate(const json::object& test, const schema::Node& node, const ManagerInfo& info,
                 const ResetFields& reset) {
  const json::object& answer = test.at("answer").as_object();
  const std::string_view op = meta::FindString(test, "op");
  std::optional<meta::Object> live;
  if (test.at("live").is_object()) live.emplace(test.at("live").as_object());
  meta::Object updated(answer);
  const json::value& source = op == "create" || op == "update" ? test.at("request") : test.at("live");
  const json::value* entries = meta::Find(source.as_object(), "metadata", "managedFields");
  updated.EraseMeta("managedFields");
  if (entries) updated.Metadata()["managedFields"] = *entries;
  if (const json::value* later = meta::FindField(test, "later")) {
    for (const json::value& field : later->as_array()) {
      const std::string_view path = field.as_string();
      const std::size_t dot = path.find('.');
      meta::EraseField(meta::MakeObject(updated.Root(), path.substr(0, dot)), path.substr(dot + 1));
    }
  }
  ASSERT_TRUE(UpdateManagedFields(live ? &*live : nullptr, updated, node, info, reset));
  EXPECT_EQ(Managed(updated.Root()), Managed(answer));
}

TEST(Golden, WritesAreAsTheRealServerMakesThem) {
  for (const json::value& value : LoadGoldens()) {
    const json::object& test = value.as_object();
    SCOPED_TRACE(std::string(meta::FindString(test, "name")));
    const schema::Node* node = schema::Builtin().Find(meta::FindString(test, "definition"));
    ASSERT_NE(node, nullptr);
    const json::object& answer = test.at("answer").as_object();
    ManagerInfo info;
    info.manager = meta::FindString(test, "manager");
    const json::value& versioned = test.at("live").is_object() ? test.at("live") : test.at("answer");
    info.api_version = meta::FindString(versioned.as_object(), "apiVersion");
    info.subresource = meta::FindString(test, "subresource");
    const bool apply = meta::FindString(test, "op") == "apply";
    const bool first = apply && Managed(answer).find("before-first-apply") != std::string::npos;
    info.now = TimeOf(answer, first ? "before-first-apply" : info.manager);
    ResetFields reset;
    for (const json::value& field : test.at("reset").as_array()) reset.emplace(field.as_string());
    if (apply) {
      CheckApply(test, *node, info, reset);
    } else {
      CheckPatch(test, *node);
      CheckUpdate(test, *node, info, reset);
    }
  }
}

}  // namespace
}  // namespace apimesh::patch
