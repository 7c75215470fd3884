#include "services/extensions-api/crd/not_enforced.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace apimesh::extensions_api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Parts(const std::string& schema, const std::string& conversion = R"({"strategy":"None"})") {
  const std::string text = R"({"spec":{"conversion":)" + conversion + R"(,"versions":[{"name":"v1"},{"name":"v2","schema":{"openAPIV3Schema":)" + schema + "}}]}}";
  return NotEnforcedParts(meta::Object(boost::json::parse(text).as_object()));
}

TEST(NotEnforced, RulesAnywhereInASchema) {
  const std::string rule = R"("x-kubernetes-validations":[{"rule":"true"}])";
  for (const std::string& schema : {"{" + rule + "}", R"({"properties":{"a":{"items":{)" + rule + "}}}}", R"({"additionalProperties":{)" + rule + "}}"}) {
    EXPECT_THAT(Parts(schema), ElementsAre(HasSubstr("x-kubernetes-validations rules are stored but not enforced"))) << schema;
  }
  EXPECT_THAT(Parts(R"({"type":"object","additionalProperties":true,"properties":{"a":{"items":{"x-kubernetes-validations":[]}}}})"), IsEmpty());
  EXPECT_THAT(Parts(R"({"properties":{"x-kubernetes-validations":{"type":"array"}}})"), IsEmpty());
}

TEST(NotEnforced, ConversionWebhooks) {
  EXPECT_THAT(Parts("{}", R"({"strategy":"Webhook"})"), ElementsAre(HasSubstr("conversion webhooks are stored but not enforced")));
}

}  // namespace
}  // namespace apimesh::extensions_api
