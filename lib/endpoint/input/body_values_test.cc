#include "lib/endpoint/input/body_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lib/codec/protobuf/wire.h"
#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

std::string Repeat(std::size_t count, const std::string& item) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + item;
  return list;
}

/// Returns a ConfigMap in protobuf whose metadata is `metadata`.
std::string Envelope(const std::string& metadata) {
  std::string type, raw, out("k8s\0", 4);
  codec::wire::PutBytes(type, 1, "v1");
  codec::wire::PutBytes(type, 2, "ConfigMap");
  codec::wire::PutBytes(raw, 1, metadata);
  codec::wire::PutBytes(out, 1, type);
  codec::wire::PutBytes(out, 2, raw);
  return out;
}

TEST(BodyValues, AreCounted) {
  const std::string wide(2 * kMaxBodyValues, ' '), space(kMaxBodyKeys * 5, ' ');  // smaller bodies are not looked at
  struct Case {
    const char* name;
    std::string body;
    bool fits;
  };
  const Case cases[] = {
      {"as many as allowed, with the list", "[" + Repeat(kMaxBodyValues - 1, "1") + "]", true},
      {"one more", "[" + Repeat(kMaxBodyValues, "1") + "]", false},
      {"empty collections", "[" + Repeat(kMaxBodyValues - 1, "{ }") + "]", true},
      {"one more", "[" + Repeat(kMaxBodyValues, "[]") + "]", false},
      {"collections with a value", "[" + Repeat(kMaxBodyValues / 2 - 1, "[1]") + "]", true},
      {"more of them", "[" + Repeat(kMaxBodyValues / 2, "[1]") + "]", false},
      {"as many keys as allowed", space + "[" + Repeat(kMaxBodyKeys, R"({"a":1})") + "]", true},
      {"one more", space + "[" + Repeat(kMaxBodyKeys + 1, R"({"a":1})") + "]", false},
      {"texts with colons", R"([")" + std::string(6 * kMaxBodyKeys, ':') + R"("])", true},
      {"texts with commas and brackets", R"(["a\"[,)" + std::string(4 * kMaxBodyValues, ',') + R"(\\","b"])", true},
      {"a text without an end", "\"" + std::string(4 * kMaxBodyValues, ','), true},
      {"nothing", wide, true},
  };
  for (const Case& one : cases) EXPECT_EQ(CheckBodyValues(one.body).has_value(), one.fits) << one.name;
}

TEST(BodyValues, AreLimitedInEveryKindOfBody) {
  const std::string maps = "/api/v1/namespaces/default/configmaps", one = maps + "/a";
  const std::string json = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":[)" +
                           Repeat(kMaxBodyValues, "1") + "]}}";
  std::string yaml = "apiVersion: v1\nkind: ConfigMap\ndata:\n";
  for (std::size_t i = 0; i < kMaxBodyNodes; ++i) yaml += "- 1\n";
  std::string keys = "apiVersion: v1\nkind: ConfigMap\ndata:\n";
  for (std::size_t i = 0; i < kMaxBodyKeys; ++i) keys += fmt::format(" k{}: a\n", i);
  const std::string json_keys =
      R"({"apiVersion":"v1","kind":"ConfigMap","data":{)" + Repeat(kMaxBodyKeys, R"("a":"b")") + "}}";
  std::string owners, entries;  // of a metadata and of a ConfigMap
  for (std::size_t i = 0; i < kMaxBodyValues; ++i) owners += std::string("\x72\0", 2);  // finalizers: [""]
  for (std::size_t i = 0; i < kMaxBodyKeys; ++i) entries += std::string("\x0a\0", 2);   // name: ""
  constexpr const char* protobuf = "application/vnd.kubernetes.protobuf";
  struct Case {
    const char *method, *type;
    std::string path, body, limit;
  };
  const Case cases[] = {
      {"POST", "application/json", maps, json, "300000 JSON values"},
      {"PUT", "application/json", one, json, "300000 JSON values"},
      {"PATCH", "application/merge-patch+json", one, json, "300000 JSON values"},
      {"PATCH", "application/strategic-merge-patch+json", one, json, "300000 JSON values"},
      {"PATCH", "application/apply-patch+yaml", one + "?fieldManager=m", json, "300000 JSON values"},
      {"DELETE", "application/json", one, json, "300000 JSON values"},
      {"POST", "application/yaml", maps, yaml, "400000 YAML nodes"},
      {"PATCH", "application/apply-patch+yaml", one + "?fieldManager=m", yaml, "400000 YAML nodes"},
      {"POST", "application/json", maps, json_keys, "100000 JSON keys"},
      {"POST", "application/yaml", maps, keys, "400000 YAML nodes"},
      {"PATCH", "application/apply-patch+yaml", one + "?fieldManager=m", keys, "400000 YAML nodes"},
      {"POST", protobuf, maps, Envelope(owners), "300000 protobuf values"},
      {"POST", protobuf, maps, Envelope(entries), "100000 protobuf keys"},
  };
  TestServer server;
  ASSERT_EQ(server.Send("POST", maps, R"({"metadata":{"name":"a"}})").code, 201);
  for (const Case& c : cases) {
    const Reply reply = server.Send(c.method, c.path, c.body, {{"content-type", c.type}, {"user-agent", "test/1"}});
    EXPECT_EQ(reply.code, 413) << c.method << " " << c.type;
    EXPECT_EQ(reply.Message(), "Request entity too large: limit is " + c.limit) << c.method << " " << c.type;
  }
}

}  // namespace
}  // namespace apimesh::endpoint
