#include "lib/codec/protobuf/openapi_protobuf.h"

#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/codec/protobuf/wire.h"
#include "lib/schema/builtin.h"
#include "lib/schema/openapi/openapi.h"

namespace apimesh::codec {
namespace {

/// Returns the bytes of the field at a path of field numbers, or "" if there is none.
std::string_view Dig(std::string_view bytes, std::initializer_list<std::uint32_t> path) {
  for (const std::uint32_t number : path) {
    std::string_view found;
    for (wire::Reader reader(bytes); reader.Next();) {
      if (reader.Number() == number && found.empty()) found = reader.Bytes();
    }
    bytes = found;
  }
  return bytes;
}

TEST(OpenApiProtobuf, NestsAsGnosticDoes) {
  const auto document =
      ParseJson(R"({"swagger":"2.0","definitions":{"A":{"type":"object","x-k":[1],"properties":{"p":{"$ref":"r"}}}}})",
                meta::NewArena());
  const std::string bytes = WriteOpenApiV2Protobuf(document->get_object());
  EXPECT_EQ(Dig(bytes, {1}), "2.0");
  EXPECT_EQ(Dig(bytes, {9, 1, 1}), "A");
  EXPECT_EQ(Dig(bytes, {9, 1, 2, 22, 1}), "object");
  EXPECT_EQ(Dig(bytes, {9, 1, 2, 25, 1, 2, 1}), "r");
  EXPECT_EQ(Dig(bytes, {9, 1, 2, 31, 1}), "x-k");
  EXPECT_EQ(Dig(bytes, {9, 1, 2, 31, 2, 2}), "[1]\n");
}

TEST(OpenApiProtobuf, WritesSharedParameters) {
  const auto document = ParseJson(
      R"({"paths":{"/a":{"parameters":[{"$ref":"#/parameters/p"}]}},"parameters":{"p":{"name":"x","in":"query"}}})",
      meta::NewArena());
  const std::string bytes = WriteOpenApiV2Protobuf(document->get_object());
  EXPECT_EQ(Dig(bytes, {8, 2, 2, 9, 2, 1}), "#/parameters/p");
  EXPECT_EQ(Dig(bytes, {10, 1, 1}), "p");
  EXPECT_EQ(Dig(bytes, {10, 1, 2, 2, 3, 4}), "x");
}

TEST(OpenApiProtobuf, WritesTheWholeDocument) {
  schema::OpenApiResource pods;
  pods.kind = {"", "v1", "Pod"};
  pods.plural = "pods";
  pods.verbs = {meta::Verb::kCreate, meta::Verb::kGet, meta::Verb::kList, meta::Verb::kPatch};
  const schema::OpenApiResource resources[] = {pods};
  const std::string bytes = WriteOpenApiV2Protobuf(schema::OpenApiV2(resources, schema::Builtin()));
  wire::Reader reader(bytes);
  std::vector<std::uint32_t> numbers;
  while (reader.Next()) numbers.push_back(reader.Number());
  EXPECT_FALSE(reader.Failed());
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1, 2, 8, 9}));
}

}  // namespace
}  // namespace apimesh::codec
