#include "lib/codec/conversion_error.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "lib/schema/builtin.h"

namespace apimesh::codec {
namespace {

TEST(ConversionError, HasTheTextsOfGo) {
  const schema::Node& deployment = *schema::Builtin().FindKind({"apps", "v1", "Deployment"});
  const struct {
    const char* spec;
    const char* want;
  } cases[] = {
      {R"({"replicas":2,"paused":true})", ""},
      {R"({"replicas":"2"})", "unrecognized type: int32"},
      {R"({"replicas":2.5})", "cannot convert float64 to int32"},
      {R"({"replicas":2.0})", ""},
      {R"({"paused":"yes"})", "unrecognized type: bool"},
      {R"({"template":5})", "cannot restore struct from: int64"},
      {R"({"template":{"spec":{"containers":{}}}})", "cannot restore slice from map"},
      {R"({"template":{"spec":{"containers":[{"name":1}]}}})", "cannot convert int64 to string"},
      {R"({"template":{"spec":{"containers":[{"imagePullPolicy":1}]}}})", "cannot convert int64 to v1.PullPolicy"},
      {R"({"selector":{"matchLabels":[]}})", "cannot restore map from slice"},
      {R"({"strategy":{"rollingUpdate":{"maxSurge":true}}})", ""},
  };
  for (const auto& c : cases) {
    const boost::json::value document = boost::json::parse(std::string(R"({"spec":)") + c.spec + "}");
    EXPECT_EQ(ConversionError(document.get_object(), deployment), c.want) << c.spec;
  }
}

}  // namespace
}  // namespace apimesh::codec
