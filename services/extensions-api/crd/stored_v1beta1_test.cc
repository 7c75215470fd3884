#include "services/extensions-api/crd/stored_v1beta1.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace apimesh::extensions_api {
namespace {

struct Case {
  const char* name;
  const char* stored;
  const char* want;
};
const Case kCases[] = {
    {"WhatStandsAboveGoesToEveryVersion",
     R"({"spec":{"version":"v1","validation":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}},
         "selectableFields":[{"jsonPath":".a"}],"additionalPrinterColumns":[{"name":"a","JSONPath":".spec.a"}],
         "versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true,"storage":false}],"preserveUnknownFields":false}})",
     R"({"spec":{"versions":[
         {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}},
          "additionalPrinterColumns":[{"name":"a","jsonPath":".spec.a"}],"selectableFields":[{"jsonPath":".a"}]},
         {"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}},
          "additionalPrinterColumns":[{"name":"a","jsonPath":".spec.a"}],"selectableFields":[{"jsonPath":".a"}]}]}})"},
    {"WhatVersionsHaveThemselvesStays",
     R"({"spec":{"version":"v1","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"additionalPrinterColumns":[{"JSONPath":".x"}]}],
         "preserveUnknownFields":true}})",
     R"({"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"additionalPrinterColumns":[{"jsonPath":".x"}]}],
         "preserveUnknownFields":true}})"},
    {"AnOldOneWithOneVersion", R"({"spec":{"version":"v1alpha1"}})",
     R"({"spec":{"versions":[{"name":"v1alpha1","served":true,"storage":true}]}})"},
    {"TheWebhookOfConversion",
     R"({"spec":{"versions":[],"conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"u"},"conversionReviewVersions":["v1"]}}})",
     R"({"spec":{"versions":[],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"u"},"conversionReviewVersions":["v1"]}}}})"},
    {"NoConversion", R"({"spec":{"versions":[],"conversion":{"strategy":"None"}}})",
     R"({"spec":{"versions":[],"conversion":{"strategy":"None"}}})"},
    {"NoSpec", R"({"metadata":{}})", R"({"metadata":{}})"},
};
class StoredV1beta1 : public ::testing::TestWithParam<Case> {};

TEST_P(StoredV1beta1, IsReadAsV1) {
  meta::json::value document = boost::json::parse(GetParam().stored);
  FromStoredV1beta1(document.get_object());
  EXPECT_EQ(document, boost::json::parse(GetParam().want));
  const meta::json::value once = document;
  FromStoredV1beta1(document.get_object());
  EXPECT_EQ(document, once) << "v1 stays v1";
}
INSTANTIATE_TEST_SUITE_P(Table, StoredV1beta1, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::extensions_api
