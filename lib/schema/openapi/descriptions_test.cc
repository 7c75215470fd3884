#include "lib/schema/openapi/descriptions.h"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

#include "lib/schema/builtin.h"
#include "lib/schema/openapi/openapi.h"
#include "lib/testing/temp_path.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

// All texts of this test are invented.
constexpr const char* kTexts =
    "apimesh-descriptions 1 v1.0.0 d1\n"
    "io.k8s.api.core.v1.Pod\tSome containers.\\n\\nThey run \\\"together\\\"; a\\\\b\\tc.\n"
    "\tmetadata\tName and more.\n"
    "\tspec\tWhat is wanted.\n"
    "io.k8s.api.core.v1.PodSpec\t\n"
    "\tnodeName\tWhere it runs.\n"
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\tAbout an object.\n"
    "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata\t\n"
    "\tkind\tName of the type.\n"
    "\tmetadata\tAbout this object.\n"
    "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList\t\n"
    "\tmetadata\tAbout this list.\n";

TEST(DescriptionTexts, FindsTheTextsOfDefinitionsAndFields) {
  const DescriptionTexts texts{kTexts};
  EXPECT_EQ(texts.OfDefinition("io.k8s.api.core.v1.Pod"), "Some containers.\n\nThey run \"together\"; a\\b\tc.");
  EXPECT_EQ(texts.OfField("io.k8s.api.core.v1.Pod", "spec"), "What is wanted.");
  EXPECT_EQ(texts.OfField("io.k8s.api.core.v1.PodSpec", "nodeName"), "Where it runs.");
  EXPECT_EQ(texts.OfField("io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList", "metadata"),
            "About this list.");
  EXPECT_EQ(texts.OfDefinition("io.k8s.api.core.v1.PodSpec"), "");
  EXPECT_EQ(texts.OfField("io.k8s.api.core.v1.Pod", "status"), "");
  EXPECT_EQ(texts.OfField("io.k8s.api.core.v1.Node", "spec"), "");
  EXPECT_EQ(DescriptionTexts().OfDefinition("io.k8s.api.core.v1.Pod"), "");
}

TEST(DescriptionTexts, ReadsFilesThatAreCutOff) {
  const std::string all = kTexts;
  for (std::size_t size = 0; size < all.size(); ++size) {
    const DescriptionTexts texts{all.substr(0, size)};
    EXPECT_EQ(texts.OfField("io.k8s.api.core.v1.Pod", "unknown"), "");
  }
}

TEST(OpenApiV3, HasTheTexts) {
  const OpenApiResource pods[] = {{.kind = {"", "v1", "Pod"}, .plural = "pods", .verbs = meta::kStoredResourceVerbs}};
  const DescriptionTexts texts{kTexts};
  const json::value document = OpenApiV3({"", "v1"}, pods, Builtin(), texts);
  const json::value& schemas = document.at_pointer("/components/schemas");
  const auto at = [&](const char* pointer) { return json::serialize(schemas.at_pointer(pointer)); };
  EXPECT_EQ(at("/io.k8s.api.core.v1.Pod/description"), R"("Some containers.\n\nThey run \"together\"; a\\b\tc.")");
  EXPECT_EQ(
      schemas.at_pointer("/io.k8s.api.core.v1.Pod/properties/spec"),
      json::parse(
          R"({"default":{},"description":"What is wanted.","allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"}]})"));
  EXPECT_EQ(at("/io.k8s.api.core.v1.PodSpec/properties/nodeName"),
            R"({"type":"string","description":"Where it runs."})");
  EXPECT_EQ(at("/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/description"), R"("About an object.")");
  EXPECT_FALSE(schemas.at_pointer("/io.k8s.api.core.v1.PodSpec").get_object().contains("description"));
}

TEST(OpenApiV2, HasTheTexts) {
  const OpenApiResource pods[] = {{.kind = {"", "v1", "Pod"}, .plural = "pods", .verbs = meta::kStoredResourceVerbs}};
  const DescriptionTexts texts{kTexts};
  const json::value document = OpenApiV2(pods, Builtin(), texts);
  EXPECT_EQ(json::serialize(document.at_pointer("/definitions/io.k8s.api.core.v1.Pod/properties/spec")),
            R"({"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec","description":"What is wanted."})");
}

TEST(OpenApiV3, HasTheTextsOfTheFieldsThatAllCustomResourcesHave) {
  const json::object schema = json::parse(R"({"type":"object","description":"A foo."})").get_object();
  const OpenApiResource foos[] = {{.kind = {"ex.io", "v1", "Foo"},
                                   .plural = "foos",
                                   .verbs = meta::kStoredResourceVerbs,
                                   .custom_schema = &schema}};
  const DescriptionTexts texts{kTexts};
  const json::value document = OpenApiV3({"ex.io", "v1"}, foos, Builtin(), texts);
  const json::value& schemas = document.at_pointer("/components/schemas");
  const auto at = [&](const char* pointer) { return json::serialize(schemas.at_pointer(pointer)); };
  EXPECT_EQ(at("/io.ex.v1.Foo/description"), R"("A foo.")");
  EXPECT_EQ(at("/io.ex.v1.Foo/properties/kind"), R"({"type":"string","description":"Name of the type."})");
  EXPECT_EQ(
      at("/io.ex.v1.Foo/properties/metadata"),
      R"({"description":"About this object.","allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]})");
  EXPECT_EQ(at("/io.ex.v1.FooList/properties/metadata/description"), R"("About this list.")");
}

class DescriptionsFile : public ::testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  void TearDown() override { std::remove(path_.c_str()); }

  const std::string path_ = testing::TempPath("descriptions.txt");
};

TEST_F(DescriptionsFile, IsReadWhenItIsNeeded) {
  Write(kTexts);
  const Descriptions descriptions(path_);
  EXPECT_EQ(descriptions.Digest(), "d1");
  EXPECT_EQ(descriptions.Read().OfField("io.k8s.api.core.v1.Pod", "spec"), "What is wanted.");
  // The digest stays that of the texts: a file that replaces this one is not read.
  std::remove(path_.c_str());
  Write("apimesh-descriptions 1 v1.0.0 d2\n");
  EXPECT_EQ(descriptions.Read().OfField("io.k8s.api.core.v1.Pod", "spec"), "What is wanted.");
}

TEST_F(DescriptionsFile, ThatCannotBeUsedHasNoTexts) {
  for (const char* text : {"", "\n", "apimesh-descriptions 1 v1.0.0 d1", "apimesh-descriptions 2 v1.0.0 d1\nx\ty\n",
                           "io.k8s.api.core.v1.Pod\tSome containers.\n"}) {
    Write(text);
    const Descriptions descriptions(path_);
    EXPECT_EQ(descriptions.Digest(), "") << text;
    EXPECT_EQ(descriptions.Read().OfDefinition("io.k8s.api.core.v1.Pod"), "") << text;
  }
  EXPECT_EQ(Descriptions("").Digest(), "");
  EXPECT_EQ(Descriptions(path_ + ".missing").Digest(), "");
}

}  // namespace
}  // namespace apimesh::schema
