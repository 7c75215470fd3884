#include "lib/meta/object_meta.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

json::object Parse(std::string_view text) { return json::parse(text).as_object(); }

std::string Show(const FieldErrors& errors) {
  std::string out;
  for (const FieldError& error : errors) {
    const std::string message = error.Message();
    out += fmt::format("{}{}: {}", out.empty() ? "" : " | ", error.field, message.substr(0, message.find(" (e.g.")));
  }
  return out;
}

struct Case {
  const char* metadata;
  bool namespaced;
  const char* want;
};
const Case kCreateCases[] = {
    {R"({"name":"a","namespace":"b"})", true, ""},
    {R"({"namespace":"b"})", true, "metadata.name: Required value: name or generateName is required"},
    {R"({"name":"a"})", true, "metadata.namespace: Required value"},
    {R"({"name":"a","namespace":"b"})", false, "metadata.namespace: Forbidden: not allowed on this type"},
    {R"({"name":"a","generation":-1})", false,
     "metadata.generation: Invalid value: -1: must be greater than or equal to 0"},
    {R"({"name":"a","finalizers":["orphan","foregroundDeletion"]})", false,
     "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and foregroundDeletion "
     "cannot be both set"},
    {R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"","uid":""}]})", false,
     "metadata.ownerReferences.name: Invalid value: \"\": must not be empty | metadata.ownerReferences.uid: Invalid "
     "value: \"\": "
     "must not be empty"},
    {R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"A","name":"x","uid":"1","controller":true},{"apiVersion":"v1","kind":"B","name":"y","uid":"2","controller":true}]})",
     false,
     R"(metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"A","name":"x","uid":"1","controller":true},{"apiVersion":"v1","kind":"B","name":"y","uid":"2","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for A/x and B/y)"},
    {R"({"name":"a","labels":{"/":"x"}})", false,
     "metadata.labels: Invalid value: \"/\": prefix part must be non-empty | metadata.labels: Invalid value: \"/\": "
     "name part must be "
     "non-empty | metadata.labels: Invalid value: \"/\": name part must consist of alphanumeric characters, '-', '_' "
     "or '.', and must "
     "start and end with an alphanumeric character"},
    {R"({"name":"a","managedFields":[{"operation":"X","manager":"a\nb"}]})", false,
     "metadata.managedFields[0].operation: Invalid value: \"X\": must be `Apply` or `Update` | "
     "metadata.managedFields[0].manager: "
     "Invalid value: \"a\\nb\": invalid character U+000A (at position 1)"},
};

TEST(ObjectMeta, Create) {
  for (const Case& test : kCreateCases) {
    EXPECT_EQ(Show(ValidateObjectMeta(Parse(test.metadata), test.namespaced, nullptr)), test.want) << test.metadata;
  }
}

TEST(ObjectMeta, AnnotationsAreLimited) {
  json::object metadata = Parse(R"({"name":"a"})");
  metadata["annotations"] = {{"Example.com/K", std::string(262144, 'x')}};
  EXPECT_EQ(Show(ValidateObjectMeta(metadata, false, nullptr)),
            "metadata.annotations: Too long: may not be more than 262144 bytes");
}

TEST(ObjectMeta, Update) {
  const char* old =
      R"({"name":"a","uid":"u","resourceVersion":"1","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z"})";
  const std::pair<const char*, const char*> cases[] = {
      {old, ""},
      {R"({"name":"b","uid":"u","resourceVersion":"1","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z"})",
       "metadata.name: Invalid value: \"b\": field is immutable"},
      {R"({"name":"a","uid":"u","generation":1,"creationTimestamp":"2026-01-01T00:00:00.0Z"})",
       "metadata.resourceVersion: Invalid value: \"\": must be specified for an update | metadata.generation: Invalid "
       "value: 1: must "
       "not be decremented"},
  };
  for (const auto& [metadata, want] : cases) {
    EXPECT_EQ(Show(ValidateObjectMetaUpdate(Parse(metadata), Parse(old))), want) << metadata;
  }
  EXPECT_EQ(
      Show(ValidateObjectMetaUpdate(
          Parse(
              R"({"name":"a","resourceVersion":"1","finalizers":["x","y"],"deletionTimestamp":"2026-01-01T00:00:00Z"})"),
          Parse(R"({"name":"a","finalizers":["x"],"deletionTimestamp":"2026-01-01T00:00:00Z"})"))),
      "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new "
      "finalizers "
      "[]string{\"y\"}");
}

}  // namespace
}  // namespace apimesh::meta
