#include "services/extensions-api/crd/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "services/extensions-api/crd/crd_resource.h"
#include "services/extensions-api/crd/warnings/format_warnings.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const apimesh::testing::ManualClock kClock;

meta::Object Crd(const std::string& spec) {
  meta::Object crd(json::parse(R"({"metadata":{"name":"foos.ex.io"},"spec":)" + spec + "}").get_object());
  const registry::Resource resource = CrdResource(kClock);
  resource.strategy->Default(crd.Root());
  resource.strategy->PrepareForCreate(meta::RequestContext(), crd);
  return crd;
}

std::string OneVersion(const std::string& rest) {
  return R"({"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,)" +
         rest + "}]}";
}

std::vector<std::string> Complaints(const meta::Object& crd) {
  std::vector<std::string> texts;
  for (const meta::FieldError& error : ValidateCrd(crd)) texts.push_back(error.field + ": " + error.Message());
  return texts;
}

TEST(CrdRules, AcceptAUsualDefinition) {
  EXPECT_THAT(
      Complaints(Crd(OneVersion(R"("schema":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}})"))),
      IsEmpty());
}

// The expected texts are responses of kube-apiserver v1.36.3.
TEST(CrdRules, HaveKubeApiserversMessages) {
  EXPECT_THAT(
      Complaints(Crd(OneVersion(
          R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"r":{"type":"integer","default":"x","maximum":3},
             "o":{"type":"object","default":{"z":1},"properties":{"y":{"type":"string"}}},
             "m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","q"],"items":{"type":"object","properties":{"k":{"type":"string"}}}}}}}}},
             "subresources":{"status":{},"scale":{"specReplicasPath":".status.x","statusReplicasPath":"status"}},
             "additionalPrinterColumns":[{"name":"x","type":"foo","format":"bar","jsonPath":"spec"},{"name":"","type":"","jsonPath":""}],
             "selectableFields":[{"jsonPath":".spec.m"},{"jsonPath":".spec.nope"}])"))),
      ::testing::UnorderedElementsAre(
          R"(spec.validation.openAPIV3Schema.properties[spec].properties[o].default: Invalid value: {"z":1}: must not have unknown fields)",
          R"(spec.validation.openAPIV3Schema.properties[spec].properties[r].default: Invalid value: "string":  in body must be of type integer: "string")",
          R"(spec.validation.openAPIV3Schema.properties[spec].properties[m].x-kubernetes-list-map-keys: Invalid value: ["k","q"]: entries must all be names of item properties)",
          "spec.validation.openAPIV3Schema.properties[spec].properties[m].items.properties[k].default: Required value: "
          "this property is in "
          "x-kubernetes-list-map-keys, so it must have a default or be a required property",
          R"(spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec)",
          R"(spec.subresources.scale.statusReplicasPath: Invalid value: "status": must be a simple json path starting with .)",
          R"(spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string)",
          R"(spec.additionalPrinterColumns[0].format: Invalid value: "bar": must be one of byte,date,date-time,double,float,int32,int64,password)",
          R"(spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .)",
          "spec.additionalPrinterColumns[1].name: Required value",
          "spec.additionalPrinterColumns[1].type: Required value: must be one of boolean,date,integer,number,string",
          "spec.additionalPrinterColumns[1].JSONPath: Required value",
          R"(spec.selectableFields[0].jsonPath: Invalid value: ".spec.m": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.)",
          R"(spec.selectableFields[1].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field)"));
}

TEST(CrdRules, NeedAStorageVersion) {
  const meta::Object crd = Crd(
      R"({"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]})");
  EXPECT_THAT(
      Complaints(crd),
      ElementsAre(
          R"(spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,)"
          R"("Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version)",
          "status.storedVersions: Invalid value: null: must have at least one stored version"));
}

TEST(CrdRules, AStorageVersionWithoutNameIsAStoredVersion) {
  const meta::Object crd = Crd(
      R"({"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]})");
  for (const meta::FieldError& error : ValidateCrd(crd)) EXPECT_EQ(error.field, "spec.versions[0].name");
}

// The expected texts are responses of kube-apiserver v1.36.3.
TEST(CrdRules, CheckNamesInLists) {
  const std::string label =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
      "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
      "'[a-z]([-a-z0-9]*[a-z0-9])?')";
  const auto with_names = [](const std::string& names, const std::string& versions) {
    return Crd(R"({"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo")" + names +
               R"(},"versions":[)" + versions + "]}");
  };
  const auto version = [](const std::string& name) {
    return R"({"name":")" + name + R"(","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}})";
  };
  EXPECT_THAT(Complaints(with_names(R"(,"shortNames":[""],"categories":[""])", version("v1"))),
              ElementsAre("spec.names.shortNames[0]: Invalid value: \"\": " + label,
                          "spec.names.categories[0]: Invalid value: \"\": " + label));
  EXPECT_THAT(Complaints(with_names("", version("A b"))),
              ElementsAre("spec.versions[0].name: Invalid value: \"A b\": " + label,
                          "spec.version: Invalid value: \"A b\": " + label));
  const std::vector<std::string> twice = Complaints(with_names("", version("v1") + "," + version("v1")));
  ASSERT_EQ(twice.size(), 3u);
  EXPECT_EQ(twice[2], R"(status.storedVersions: Invalid value: ["v1"]: must have the storage version v1)");
}

TEST(CrdRules, SelectableFieldsNeedASchema) {
  EXPECT_THAT(
      Complaints(Crd(OneVersion(R"("selectableFields":[{"jsonPath":".spec.s"}])"))),
      ElementsAre("spec.versions[0].schema.openAPIV3Schema: Required value",
                  R"(spec.selectableFields: Invalid value: "": may only be set when validations.schema is included)"));
}

TEST(CrdRules, KeepGroupAndStoredVersions) {
  const std::string schema = R"("schema":{"openAPIV3Schema":{"type":"object"}})";
  const meta::Object old = Crd(OneVersion(schema));
  meta::Object renamed = old;
  renamed.Root()["spec"].get_object()["group"] = "other.io";
  EXPECT_EQ(ValidateCrdUpdate(renamed, old).front().Message(), R"(Invalid value: "other.io": field is immutable)");
  meta::Object moved = old;
  moved.Root()["spec"].get_object()["versions"].get_array()[0].get_object()["name"] = "v2";
  CrdResource(kClock).strategy->PrepareForUpdate(meta::RequestContext(), moved, old);
  const meta::FieldErrors errors = ValidateCrdUpdate(moved, old);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "status.storedVersions[0]");
}

TEST(CrdRules, ProtectedGroupsNeedApproval) {
  meta::Object crd = Crd(
      R"({"group":"x.k8s.io","scope":"Cluster","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]})");
  crd.SetMeta("name", "foos.x.k8s.io");
  EXPECT_THAT(Complaints(crd),
              ElementsAre("metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must "
                          "have approval annotation "
                          "\"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"));
}

// The expected texts are responses of kube-apiserver v1.36.3.
TEST(CrdRules, CheckTheAddressOfAConversionWebhook) {
  const auto complaints = [](const std::string& webhook) {
    return Complaints(Crd(
        R"({"group":"ex.io","scope":"Cluster","names":{"plural":"foos","kind":"Foo"},"conversion":{"strategy":"Webhook","webhook":)" +
        webhook +
        R"(},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]})"));
  };
  EXPECT_THAT(
      complaints(R"({"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a","name":"b"}}})"),
      IsEmpty());
  EXPECT_THAT(complaints(R"({"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a"}}})"),
              ElementsAre("spec.conversion.webhookClientConfig.service.namespace: Required value"));
  EXPECT_THAT(
      complaints(R"({"conversionReviewVersions":["v2","v2"],"clientConfig":{"url":"http://u@h/?q#f"}})"),
      ElementsAre("spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed "
                  "URL scheme; desired format: https://host[/path]",
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"u\": user information is not "
                  "permitted in the URL",
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"f\": fragments are not permitted in "
                  "the URL",
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"q\": query parameters are not "
                  "permitted in the URL",
                  "spec.conversion.conversionReviewVersions[1]: Invalid value: \"v2\": duplicate version",
                  "spec.conversion.conversionReviewVersions: Invalid value: [\"v2\",\"v2\"]: must include at "
                  "least one of v1, v1beta1"));
}

TEST(CrdWarnings, NameUnknownFormatsThatAreNew) {
  const auto with_format = [](const std::string& format) {
    return Crd(
        OneVersion(R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string","format":")" +
                   format + R"("},"b":{"type":"integer","format":"int64"}}}})"));
  };
  EXPECT_THAT(FormatWarnings(with_format("date"), nullptr), IsEmpty());
  EXPECT_THAT(FormatWarnings(with_format("nope"), nullptr), ElementsAre("unrecognized format \"nope\""));
  const meta::Object old = with_format("nope");
  EXPECT_THAT(FormatWarnings(with_format("nope"), &old), IsEmpty());
  EXPECT_THAT(FormatWarnings(with_format("int64"), &old), ElementsAre("unrecognized format \"int64\""));
}

}  // namespace
}  // namespace apimesh::extensions_api
