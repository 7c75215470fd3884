#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/codec/protobuf/wire.h"
#include "lib/schema/builtin.h"

namespace apimesh::codec {
namespace {

struct Sample {
  meta::Gvk kind;
  std::string json, protobuf;
};

/// Returns objects of every kind as encoded by the serializers of Kubernetes (tools/schema/samples.go).
std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  const char* const name = "lib/codec/testdata/samples.tsv";
  std::filesystem::path folder = std::filesystem::current_path();
  while (!std::filesystem::exists(folder / name) && folder.has_relative_path()) folder = folder.parent_path();
  std::ifstream file(folder / name);
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t'), second = line.rfind('\t');
    const std::size_t slash = line.find('/'), second_slash = line.find('/', slash + 1);
    Sample sample;
    sample.kind = {line.substr(0, slash), line.substr(slash + 1, second_slash - slash - 1),
                   line.substr(second_slash + 1, tab - second_slash - 1)};
    sample.json = line.substr(tab + 1, second - tab - 1);
    DecodeBase64(std::string_view(line).substr(second + 1), sample.protobuf);
    samples.push_back(std::move(sample));
  }
  return samples;
}

TEST(Samples, ReadFromProtobufToTheReferencesJson) {
  const std::vector<Sample> samples = Samples();
  ASSERT_GT(samples.size(), 300u);
  for (const Sample& sample : samples) {
    const schema::Node* node = schema::Builtin().FindKind(sample.kind);
    ASSERT_NE(node, nullptr) << sample.kind.ToString();
    const auto object = ReadProtobuf(sample.protobuf, *node, meta::NewArena());
    ASSERT_TRUE(object) << sample.kind.ToString() << " " << object.error().Message();
    EXPECT_EQ(WriteJson(object->Root()), sample.json) << sample.kind.ToString();
  }
}

TEST(Samples, WriteToTheReferencesProtobuf) {
  for (const Sample& sample : Samples()) {
    const schema::Node* node = schema::Builtin().FindKind(sample.kind);
    const auto object = ReadProtobuf(sample.protobuf, *node, meta::NewArena());
    ASSERT_TRUE(object);
    EXPECT_EQ(WriteProtobuf(object->Root(), *node) == sample.protobuf, true) << sample.kind.ToString();
  }
}

TEST(Samples, AreInNormalForm) {
  for (const Sample& sample : Samples()) {
    const schema::Node* node = schema::Builtin().FindKind(sample.kind);
    Strictness strict;
    auto value = ParseJson(sample.json, meta::NewArena(), &strict);
    ASSERT_TRUE(value) << sample.json;
    const auto result = Normalise(value->get_object(), *node, &strict);
    ASSERT_TRUE(result) << sample.kind.ToString() << " " << result.error().Message();
    EXPECT_EQ(WriteJson(*value), sample.json) << sample.kind.ToString();
    EXPECT_TRUE(strict.complaints.empty()) << sample.kind.ToString() << " " << strict.complaints.front();
  }
}

TEST(Samples, SurviveYaml) {
  for (const Sample& sample : Samples()) {
    const auto value = ParseJson(sample.json, meta::NewArena());
    const auto again = ParseYaml(WriteYaml(*value), meta::NewArena());
    ASSERT_TRUE(again) << sample.kind.ToString() << again.error().Message() << WriteYaml(*value);
    EXPECT_TRUE(*again == *value) << sample.kind.ToString() << WriteYaml(*value);
  }
}

TEST(Protobuf, ReadsTheTypeAlone) {
  const Sample sample = Samples().front();
  EXPECT_TRUE(IsProtobuf(sample.protobuf));
  EXPECT_EQ(*PeekProtobuf(sample.protobuf), sample.kind);
  EXPECT_FALSE(PeekProtobuf("{}"));
}

TEST(Protobuf, RefusesWhatIsCutOff) {
  for (const Sample& sample : Samples()) {
    const schema::Node* node = schema::Builtin().FindKind(sample.kind);
    for (std::size_t size = 4; size < std::min<std::size_t>(sample.protobuf.size(), 200); size += 7) {
      (void)ReadProtobuf(std::string_view(sample.protobuf).substr(0, size), *node, meta::NewArena());
    }
  }
}

TEST(Protobuf, FramesWatchEvents) {
  const std::string frame = WriteProtobufWatchFrame("ADDED", "abc");
  EXPECT_EQ(frame, std::string("\0\0\0\x0e\x0a\x05"
                               "ADDED\x12\x05\x0a\x03"
                               "abc",
                               18));
}

}  // namespace
}  // namespace apimesh::codec
