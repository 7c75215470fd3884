#include "lib/schema/openapi/openapi.h"

#include <gtest/gtest.h>

#include "lib/schema/builtin.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

OpenApiResource Pods() {
  OpenApiResource pods;
  pods.kind = {"", "v1", "Pod"};
  pods.plural = "pods";
  pods.verbs = meta::kStoredResourceVerbs;
  pods.subresources = {{"status", {"", "v1", "Pod"}, {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate}},
                       {"eviction", {"policy", "v1", "Eviction"}, {meta::Verb::kCreate}}};
  return pods;
}

TEST(OpenApiV3, DescribesBuiltInKinds) {
  const OpenApiResource pods[] = {Pods()};
  const json::value document = OpenApiV3({"", "v1"}, pods, Builtin());
  const auto at = [&](const char* pointer) { return json::serialize(document.at_pointer(pointer)); };
  EXPECT_EQ(at("/components/schemas/io.k8s.api.core.v1.Pod/x-kubernetes-group-version-kind"),
            R"([{"group":"","kind":"Pod","version":"v1"}])");
  EXPECT_EQ(at("/components/schemas/io.k8s.api.core.v1.ContainerPort/properties/protocol"),
            R"({"type":"string","enum":["SCTP","TCP","UDP"],"default":"TCP"})");
  EXPECT_EQ(at("/components/schemas/io.k8s.api.core.v1.ContainerPort/required"), R"(["containerPort"])");
  EXPECT_EQ(at("/components/schemas/io.k8s.api.core.v1.Pod/properties/spec"),
            R"({"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"}]})");
  EXPECT_EQ(
      at("/components/schemas/io.k8s.api.core.v1.Container/properties/ports"),
      R"({"type":"array","items":{"$ref":"#/components/schemas/io.k8s.api.core.v1.ContainerPort"},"x-kubernetes-list-map-keys":["containerPort","protocol"],"x-kubernetes-list-type":"map","x-kubernetes-patch-merge-key":"containerPort","x-kubernetes-patch-strategy":"merge"})");
  EXPECT_EQ(at("/paths/~1api~1v1~1namespaces~1{namespace}~1pods~1{name}/patch/operationId"),
            R"("patchCoreV1NamespacedPod")");
  EXPECT_EQ(at("/paths/~1api~1v1~1namespaces~1{namespace}~1pods~1{name}/patch/x-kubernetes-action"), R"("patch")");
  EXPECT_EQ(at("/paths/~1api~1v1~1pods/get/operationId"), R"("listCoreV1PodForAllNamespaces")");
  EXPECT_EQ(
      at("/paths/~1api~1v1~1namespaces~1{namespace}~1pods~1{name}~1eviction/post/x-kubernetes-group-version-kind/kind"),
      R"("Eviction")");
}

TEST(OpenApiV3, PublishesTheSchemaOfCustomResources) {
  const json::object schema = json::parse(R"({"type":"object","properties":{"spec":{"type":"object"}}})").get_object();
  OpenApiResource foos;
  foos.kind = {"ex.io", "v1", "Foo"};
  foos.plural = "foos";
  foos.verbs = meta::kStoredResourceVerbs;
  foos.custom_schema = &schema;
  const OpenApiResource resources[] = {foos};
  const json::value document = OpenApiV3({"ex.io", "v1"}, resources, Builtin());
  EXPECT_EQ(json::serialize(document.at_pointer("/components/schemas/io.ex.v1.Foo/x-kubernetes-group-version-kind")),
            R"([{"group":"ex.io","kind":"Foo","version":"v1"}])");
  EXPECT_EQ(json::serialize(document.at_pointer("/components/schemas/io.ex.v1.FooList/properties/items")),
            R"({"type":"array","items":{"$ref":"#/components/schemas/io.ex.v1.Foo"}})");
  EXPECT_EQ(json::serialize(
                document.at_pointer("/paths/~1apis~1ex.io~1v1~1namespaces~1{namespace}~1foos~1{name}/get/operationId")),
            R"("readExIoV1NamespacedFoo")");
}

TEST(OpenApi, SchemasOfCustomResources) {
  struct Case {
    const char* schema;
    const char* v2;
    const char* v3;
  };
  constexpr Case kCases[] = {
      {R"({"type":"string","description":"Text.","default":"x"})", R"({"type":"string","description":"Text."})",
       R"({"type":"string","description":"Text.","default":"x"})"},
      {R"({"x-kubernetes-int-or-string":true})", R"({"x-kubernetes-int-or-string":true})",
       R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})"},
      {R"({"type":"string","nullable":true})", R"({})", R"({"type":"string","nullable":true})"},
      {R"({"type":"string","anyOf":[{"pattern":"a"}]})", R"({"type":"string"})",
       R"({"type":"string","anyOf":[{"pattern":"a"}]})"},
      {R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}})",
       R"({"x-kubernetes-preserve-unknown-fields":true})",
       R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}})"},
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string","nullable":true}}})",
       R"({"type":"object","properties":{"a":{}}})",
       R"({"type":"object","required":["a"],"properties":{"a":{"type":"string","nullable":true}}})"},
  };
  for (const Case& one : kCases) {
    json::object schema{{"type", "object"}, {"properties", json::object{{"spec", json::parse(one.schema)}}}};
    OpenApiResource foos;
    foos.kind = {"ex.io", "v1", "Foo"};
    foos.plural = "foos";
    foos.verbs = meta::kStoredResourceVerbs;
    foos.list_kind = "Foos";
    foos.custom_schema = &schema;
    const OpenApiResource resources[] = {foos};
    const json::value v2 = OpenApiV2(resources, Builtin()), v3 = OpenApiV3({"ex.io", "v1"}, resources, Builtin());
    EXPECT_EQ(v2.at_pointer("/definitions/io.ex.v1.Foo/properties/spec"), json::parse(one.v2)) << one.schema;
    EXPECT_EQ(v3.at_pointer("/components/schemas/io.ex.v1.Foo/properties/spec"), json::parse(one.v3)) << one.schema;
    EXPECT_TRUE(v3.at_pointer("/components/schemas").get_object().contains("io.ex.v1.Foos"));
    EXPECT_FALSE(v3.at_pointer("/paths").get_object().contains("/apis/ex.io/v1/"));
  }
}

TEST(OpenApiV2, HasDefinitionsAndPaths) {
  const OpenApiResource pods[] = {Pods()};
  const json::value document = OpenApiV2(pods, Builtin());
  EXPECT_EQ(json::serialize(document.at_pointer("/definitions/io.k8s.api.core.v1.Pod/properties/spec")),
            R"({"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"})");
  EXPECT_EQ(json::serialize(document.at_pointer("/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString")),
            R"({"type":"string","format":"int-or-string"})");
  EXPECT_EQ(
      json::serialize(document.at_pointer("/paths/~1api~1v1~1namespaces~1{namespace}~1pods/post/parameters/0/schema")),
      R"({"$ref":"#/definitions/io.k8s.api.core.v1.Pod"})");
}

}  // namespace
}  // namespace apimesh::schema
