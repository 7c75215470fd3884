#include "lib/codec/decode.h"

#include <gtest/gtest.h>

#include "lib/schema/builtin.h"

namespace apimesh::codec {
namespace {

const DecodeTarget& ConfigMap() {
  static const DecodeTarget target{{"", "v1", "ConfigMap"}, schema::Builtin().FindKind({"", "v1", "ConfigMap"})};
  return target;
}

std::string Answer(std::string_view body, Format format = Format::kJson, Strictness* strict = nullptr) {
  const auto object = Decode(body, format, ConfigMap(), meta::NewArena(), strict);
  return object ? WriteJson(object->Root()) : object.error().Message();
}

// Every text here is what kube-apiserver v1.36.3 answered.
TEST(Decode, AnswersAsTheReferenceDoes) {
  const struct { std::string body; const char* answer; } cases[] = {
      {"{", "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)"},
      {"", "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"},
      {"[]", R"(the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b5d))"},
      {R"({"kind":5,"metadata":{"name":"a2"}})", R"(the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5,"metadata":{"name":" ...))"},
      {R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":1}})", R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string)"},
      {R"({"kind":"Foo","apiVersion":"v1","metadata":{"name":"a"}})", R"(Foo in version "v1" cannot be handled as a ConfigMap: no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111")"},
      {R"({"metadata":{"name":"a"}})", R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})"},
      {std::string(20000, '['), "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character '[' exceeded max depth (5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b ...)"},
  };
  for (const auto& one : cases) EXPECT_EQ(Answer(one.body), one.answer);
}

TEST(Decode, CollectsComplaints) {
  Strictness strict;
  Answer("kind: ConfigMap\napiVersion: v1\nfoo: 1\nmetadata:\n  name: a\n  name: b\n", Format::kYaml, &strict);
  EXPECT_EQ(StrictDecodingError({"", "v1", "ConfigMap"}, strict).Message(),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n"
            "  line 6: key \"name\" already set in map, unknown field \"foo\"");
}

TEST(Decode, ReadsProtobuf) {
  const auto object = Decode(R"({"metadata":{"name":"a"},"data":{"x":"y"}})", Format::kJson, ConfigMap(), meta::NewArena(), nullptr);
  EXPECT_EQ(Answer(WriteProtobuf(object->Root(), *ConfigMap().node), Format::kProtobuf), WriteJson(object->Root()));
}

}  // namespace
}  // namespace apimesh::codec
