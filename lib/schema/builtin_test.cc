#include "lib/schema/builtin.h"

#include <gtest/gtest.h>

#include "lib/testing/system_clock.h"

namespace apimesh::schema {
namespace {

const Node* Walk(std::string_view definition, std::initializer_list<std::string_view> path) {
  const Node* node = Builtin().Find(definition);
  for (const std::string_view name : path) {
    if (!node) return nullptr;
    if (name == "[]") {
      node = node->items;
      continue;
    }
    const Field* field = node->FindField(name);
    node = field ? field->schema : nullptr;
  }
  return node;
}

TEST(Builtin, KnowsListsAndTheirKeys) {
  const Node* ports = Walk("io.k8s.api.core.v1.Pod", {"spec", "containers", "[]", "ports"});
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(ports->type, Type::kList);
  EXPECT_EQ(ports->list_type, ListType::kMap);
  EXPECT_EQ(ports->list_map_keys, (std::vector<std::string>{"containerPort", "protocol"}));
  const Field* field = Walk("io.k8s.api.core.v1.Container", {})->FindField("ports");
  EXPECT_TRUE(field->patch_merge);
  EXPECT_EQ(field->patch_merge_key, "containerPort");
}

TEST(Builtin, FlattensInlineStructs) {
  const Field* field = Walk("io.k8s.api.core.v1.Volume", {})->FindField("hostPath");
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(field->inline_path, 2u);
  EXPECT_EQ(field->number, 1u);
  EXPECT_EQ(Walk("io.k8s.api.core.v1.Volume", {})->FindNumber(1)->name, "name");
  const Node* rule = Walk("io.k8s.api.admissionregistration.v1.NamedRuleWithOperations", {});
  EXPECT_EQ(rule->FindField("apiGroups")->inline_path, 0x0202u);
}

TEST(Builtin, KnowsSpecialTypes) {
  EXPECT_EQ(Walk("io.k8s.api.core.v1.ResourceRequirements", {"limits", "[]"})->type, Type::kQuantity);
  EXPECT_EQ(Walk("io.k8s.api.core.v1.ServicePort", {"targetPort"})->type, Type::kIntOrString);
  EXPECT_EQ(Walk("io.k8s.api.core.v1.Secret", {"data", "[]"})->type, Type::kBytes);
  EXPECT_EQ(Walk("io.k8s.api.core.v1.Pod", {"metadata", "creationTimestamp"})->type, Type::kTime);
  EXPECT_EQ(Walk("io.k8s.api.core.v1.Pod", {"metadata", "managedFields", "[]", "fieldsV1"})->type, Type::kFieldsV1);
  EXPECT_EQ(Walk("io.k8s.api.coordination.v1.Lease", {"spec", "renewTime"})->type, Type::kMicroTime);
  EXPECT_EQ(Walk("io.k8s.api.authorization.v1.SubjectAccessReview", {"spec", "extra", "[]"})->type, Type::kList);
  const Node* schema = Builtin().Find("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  EXPECT_EQ(schema->FindField("items")->schema->type, Type::kSchemaOrArray);
  EXPECT_EQ(schema->FindField("items")->schema->items, schema);
  EXPECT_NE(schema->FindField("x-kubernetes-list-map-keys"), nullptr);
  EXPECT_NE(schema->FindField("$ref"), nullptr);
}

TEST(Builtin, FindsKinds) {
  EXPECT_EQ(Builtin().FindKind({"apps", "v1", "Deployment"}), Builtin().Find("io.k8s.api.apps.v1.Deployment"));
  EXPECT_EQ(Builtin().FindKind({"", "v1", "Status"})->name, "io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  EXPECT_EQ(Builtin().FindKind({"apps", "v1", "Nothing"}), nullptr);
}

TEST(Builtin, ResolvesEveryField) {
  const Node* pod = Builtin().Find("io.k8s.api.core.v1.Pod");
  EXPECT_EQ(pod->fields[0].name, "kind");
  EXPECT_EQ(pod->fields[1].name, "apiVersion");
  EXPECT_TRUE(pod->FindField("status")->always);
  EXPECT_FALSE(Walk("io.k8s.api.core.v1.PodSpec", {})->FindField("nodeName")->pointer);
}

TEST(Builtin, CompilesFast) {
  const auto start = testing::SystemClock().Steady();
  const Schema schema = CompileDescriptors(BuiltinDescriptors());
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(testing::SystemClock().Steady() - start);
  RecordProperty("milliseconds", static_cast<int>(took.count()));
  std::printf("compiled in %d ms\n", static_cast<int>(took.count()));
  EXPECT_LT(took.count(), 500);  // debug and sanitizer builds; a release build needs a few milliseconds
}

}  // namespace
}  // namespace apimesh::schema
