#include "services/extensions-api/conversion_webhook/review.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kUid = "u-1";
const meta::Gvk kDesired{"example.com", "v2", "Box"};

std::vector<meta::Object> Originals() {
  std::vector<meta::Object> objects;
  objects.emplace_back(json::parse(R"({"apiVersion":"example.com/v1","kind":"Box","metadata":{"name":"a","namespace":
      "n","uid":"i","labels":{"x":"1"},"finalizers":["f"]},"spec":{}})")
                           .as_object());
  return objects;
}

std::string Response(std::string_view object, std::string_view rest = R"("uid":"u-1","result":{"status":"Success"})",
                     std::string_view head = R"("kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1")") {
  return fmt::format(R"({{{},"response":{{{},"convertedObjects":[{}]}}}})", head, rest, object);
}

constexpr std::string_view kGood =
    R"({"apiVersion":"example.com/v2","kind":"Box","metadata":{"name":"a","namespace":"n","uid":"i"},"spec":{"b":1}})";

TEST(Review, HasTheBytesOfKubeApiserver) {
  EXPECT_EQ(WriteReview("v1", "u", "g/v2", {R"({"a":1})", "{}"}),
            R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u",)"
            R"("desiredAPIVersion":"g/v2","objects":[{"a":1},{}]},"response":{"uid":"","convertedObjects":null,)"
            R"("result":{"metadata":{}}}})"
            "\n");
  EXPECT_EQ(SupportedReviewVersion({"v2", "v1beta1", "v1"}), "v1beta1");
  EXPECT_EQ(SupportedReviewVersion({"v2"}), "");
}

TEST(Review, RestoresMetadataExceptLabelsAndAnnotations) {
  const auto read = ReadReview("v1", kUid, Response(kGood), Originals(), kDesired);
  const auto& objects = std::get<0>(read);
  EXPECT_EQ(json::serialize(objects[0].Metadata()), R"({"name":"a","namespace":"n","uid":"i","finalizers":["f"]})");
}

TEST(Review, ReportsFaults) {
  struct Case {
    std::string response, type, message;
    std::string_view version = "v1";
  };
  const auto object = [](std::string_view from, std::string_view to) {
    std::string text(kGood);
    text.replace(text.find(from), from.size(), to);
    return Response(text);
  };
  const std::string start = "conversion webhook for example.com/v1, Kind=Box ";
  const std::vector<Case> cases = {
      {Response(kGood, R"("uid":"other","result":{"status":"Success"})"), std::string(kMalformedResponse),
       start + R"(failed: expected response.uid="u-1", got "other")"},
      {Response(kGood, R"("uid":"u-1","result":{"status":"Failed","message":"no"})"), std::string(kMalformedResponse),
       start + "failed: no"},
      {Response(kGood, R"("uid":"u-1")"), std::string(kMalformedResponse),
       start + "failed: response.result.status was '', not 'Success'"},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"})", std::string(kMalformedResponse),
       start + "failed: no response provided"},
      {R"({"kind":"Other","apiVersion":"v1"})", std::string(kCallFailure),
       start + R"(failed: no kind "Other" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111")"},
      {R"({})", std::string(kMalformedResponse),
       start + "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1"})", std::string(kCallFailure),
       start + "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"},
      {Response(""), std::string(kPartialResponse), start + "returned 0 objects, expected 1"},
      {object("example.com/v2", "example.com/v3"), std::string(kInvalidObject),
       start + "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received "
               "example.com/v3)"},
      {object("Box", "Bag"), std::string(kInvalidObject),
       start + "returned invalid object at index 0: invalid kind (expected Box, received Bag)"},
      {object(R"("name":"a")", R"("name":"b")"), std::string(kInvalidObject),
       start + "returned invalid object: must have the same name: a != b"},
      {object(R"("uid":"i")", R"("uid":"i","labels":{"a":1})"), std::string(kInvalidObject),
       start + "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
      {object(R"("uid":"i")", R"("uid":"i","labels":"x")"), std::string(kInvalidObject),
       start + "returned invalid metadata: invalid metadata.labels of type string in converted object"},
  };
  for (const Case& test : cases) {
    const auto read = ReadReview(test.version, kUid, test.response, Originals(), kDesired);
    const auto* failure = std::get_if<ConversionFailure>(&read);
    ASSERT_TRUE(failure) << test.response;
    EXPECT_EQ(failure->type, test.type) << test.response;
    EXPECT_EQ(failure->message, test.message) << test.response;
  }
}

TEST(Review, V1beta1DoesNotCheckTheUid) {
  const std::string other = Response(kGood, R"("uid":"other","result":{"status":"Success"})",
                                     R"("kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1")");
  EXPECT_EQ(ReadReview("v1beta1", kUid, other, Originals(), kDesired).index(), 0u);
}

}  // namespace
}  // namespace apimesh::extensions_api
