#include "lib/codec/negotiation.h"

#include <gtest/gtest.h>

namespace apimesh::codec {
namespace {

struct Case {
  const char* name;
  const char* accept;
  const char* want;  // format and transform, or "406"
};
const Case kCases[] = {
    {"Empty", "", "application/json "},
    {"Any", "*/*", "application/json "},
    {"AnyApplication", "application/*", "application/json "},
    {"Yaml", "application/yaml", "application/yaml "},
    {"Protobuf", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf "},
    {"Weights", "application/json;q=0.1, application/yaml;q=0.9", "application/yaml "},
    {"NoNumberIsLast", "application/yaml;q=nan, application/json;q=0.1, application/yaml;q=nan", "application/json "},
    {"SpecificFirst", "*/*, application/yaml", "application/yaml "},
    {"Table", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json Table"},
    {"TableHasNoProtobuf", "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json",
     "application/json "},
    {"UnknownTransform", "application/json;as=Chart;v=v1;g=meta.k8s.io", "406"},
    {"WrongGroup", "application/json;as=Table;v=v1;g=apps", "406"},
    {"Text", "text/html", "406"},
    {"Stream", "application/json;stream=watch", "application/json "},
    {"YamlStream", "application/yaml;stream=watch", "406"},
};

TEST(Negotiation, PicksTheBestClause) {
  for (const Case& c : kCases) {
    const meta::Result<OutputType> output = NegotiateOutput(c.accept, {});
    const std::string got = output ? std::string(MediaTypeOf(output->format)) + " " + output->as : "406";
    EXPECT_EQ(got, c.want) << c.name;
  }
}

TEST(Negotiation, ListsWhatThereIs) {
  EXPECT_EQ(NegotiateOutput("text/html", {}).error().Message(),
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(NegotiateStream("application/yaml", {}).error().Message(),
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch");
  for (const char* accept : {"application/json;stream=nope", "application/json;as=Table;v=v2;g=meta.k8s.io"}) {
    EXPECT_EQ(NegotiateStream(accept, {}).error().Message(), NegotiateOutput(accept, {}).error().Message()) << accept;
  }
  EXPECT_EQ(NegotiateInput("text/plain", {}).error().Code(), 415);
}

TEST(Negotiation, CustomResourcesHaveNoProtobufButTheirMetadataDoes) {
  const Offer offer{.protobuf = false};
  EXPECT_EQ(NegotiateInput("application/vnd.kubernetes.protobuf", offer).error().Code(), 415);
  EXPECT_EQ(NegotiateInput("application/vnd.kubernetes.protobuf", {}).value(), Format::kProtobuf);
  EXPECT_EQ(NegotiateInput("application/yaml", offer).value(), Format::kYaml);
  EXPECT_FALSE(NegotiateOutput("application/vnd.kubernetes.protobuf", offer));
  EXPECT_TRUE(
      NegotiateOutput("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", offer));
}

TEST(Negotiation, PrettyForPeople) {
  EXPECT_TRUE(WantsPretty("", "curl/8.0"));
  EXPECT_FALSE(WantsPretty("0", "curl/8.0"));
  EXPECT_TRUE(WantsPretty("true", "kubectl/v1.33"));
  EXPECT_FALSE(WantsPretty("", "kubectl/v1.33"));
}

}  // namespace
}  // namespace apimesh::codec
