#include "services/aggregator/extensions/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;

const meta::GroupVersion kVersion{"notes.example.com", "v1"};

mesh::v1::Description Notes() {
  mesh::v1::Description description;
  description.set_contract_version(kContractVersion);
  mesh::v1::GroupVersion& version = *description.add_group_versions();
  version.set_group(kVersion.group);
  version.set_version(kVersion.version);
  mesh::v1::Resource& notes = *version.add_resources();
  notes.set_name("notes");
  notes.set_kind("Note");
  for (const char* verb : {"list", "get"}) notes.add_verbs(verb);
  return description;
}

mesh::v1::Resource& ResourceOf(mesh::v1::Description& description) {
  return *description.mutable_group_versions(0)->mutable_resources(0);
}

std::string RefusalOf(const mesh::v1::Description& description) {
  Refusal refusal;
  EXPECT_EQ(ReadResources(description, kVersion, {}, refusal), nullptr);
  return refusal.reason + ": " + refusal.message;
}

TEST(Resources, HaveDefaults) {
  Refusal refusal;
  const ExtensionResourcesPtr made = ReadResources(Notes(), kVersion, {}, refusal);
  ASSERT_TRUE(made) << refusal.message;
  EXPECT_EQ(made->resource_list,
            R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"notes.example.com/v1","resources":[)"
            R"({"name":"notes","singularName":"note","namespaced":true,"kind":"Note","verbs":["get","list"]}]})");
  EXPECT_TRUE(made->resources.at("notes").verbs.contains(meta::Verb::kList));
  EXPECT_FALSE(made->resources.at("notes").verbs.contains(meta::Verb::kWatch));
  EXPECT_TRUE(made->shared_watches->empty());
  EXPECT_THAT(made->openapi_v3, HasSubstr("com.example.notes.v1.Note"));
  EXPECT_THAT(made->openapi_v2, HasSubstr("/apis/notes.example.com/v1/namespaces/{namespace}/notes"));
}

TEST(Resources, AreDescribedCompletely) {
  mesh::v1::Description description = Notes();
  mesh::v1::Resource& notes = ResourceOf(description);
  notes.set_cluster_scoped(true);
  notes.add_short_names("no");
  notes.set_shared_watches(true);
  notes.set_schema(R"({"type":"object","properties":{"spec":{"type":"string","description":"What to remember."}}})");
  mesh::v1::Subresource& status = *notes.add_subresources();
  status.set_name("status");
  status.add_verbs("get");
  Refusal refusal;
  const ExtensionResourcesPtr made = ReadResources(description, kVersion, {}, refusal);
  ASSERT_TRUE(made) << refusal.message;
  EXPECT_THAT(made->resource_list,
              HasSubstr(R"("namespaced":false,"kind":"Note","verbs":["get","list"],"shortNames":["no"]})"));
  EXPECT_THAT(made->resource_list, HasSubstr(R"({"name":"notes/status","singularName":"","namespaced":false)"));
  EXPECT_TRUE(made->shared_watches->contains("notes"));
  EXPECT_THAT(made->openapi_v3, HasSubstr("What to remember."));
  EXPECT_TRUE(made->resources.contains("notes/status"));
}

TEST(Resources, OfAnotherContractAreRefused) {
  mesh::v1::Description description = Notes();
  description.set_contract_version(0);
  EXPECT_EQ(RefusalOf(description),
            "ContractVersionMismatch: the server implements version 0 of the contract mesh.v1.Delegate, and version 1 "
            "is needed");
  description.set_contract_version(2);
  EXPECT_THAT(RefusalOf(description), HasSubstr("implements version 2"));
  description = Notes();
  description.mutable_group_versions(0)->set_version("v2");
  EXPECT_EQ(RefusalOf(description), "GroupVersionNotServed: the server does not describe notes.example.com/v1");
}

TEST(Resources, ThatAreInvalidAreRefused) {
  using Change = void (*)(mesh::v1::Resource&);
  const std::pair<Change, const char*> cases[] = {
      {[](auto& notes) { notes.set_name("Notes/x"); }, "is not a name of a resource"},
      {[](auto& notes) { notes.set_kind("No te"); }, "an invalid kind"},
      {[](auto& notes) { notes.set_singular("\"}"); }, "singular name"},
      {[](auto& notes) { notes.clear_verbs(); }, "has no verbs"},
      {[](auto& notes) { notes.add_verbs("proxy"); }, "has the verb \"proxy\""},
      {[](auto& notes) { notes.add_short_names("N"); }, "invalid shortNames"},
      {[](auto& notes) { notes.set_schema("[]"); }, "the schema of notes"},
      {[](auto& notes) { notes.set_schema(R"({"type":"string"})"); }, "the schema of notes"},
      {[](auto& notes) {
         notes.set_schema(R"({"type":"object","x":)" + std::string(100, '[') + std::string(100, ']') + "}");
       },
       "the schema of notes"},
      {[](auto& notes) { notes.set_schema(R"({"type":"object","x":")" + std::string(600 << 10, 'x') + "\"}"); },
       "the schema of notes"},
      {[](auto& notes) { notes.add_subresources()->set_name("a/b"); }, "a subresource with an invalid name"},
      {[](auto& notes) {
         for (int i = 0; i < 100; ++i) notes.add_categories("all");
       },
       "more than 20 categories"},
  };
  for (const auto& [change, message] : cases) {
    mesh::v1::Description description = Notes();
    change(ResourceOf(description));
    EXPECT_THAT(RefusalOf(description), HasSubstr(message));
  }
  mesh::v1::Description description = Notes();
  for (int i = 0; i < 200; ++i) *description.mutable_group_versions(0)->add_resources() = ResourceOf(description);
  EXPECT_THAT(RefusalOf(description), HasSubstr("more than 100 resources"));
  description = Notes();
  *description.mutable_group_versions(0)->add_resources() = ResourceOf(description);
  EXPECT_THAT(RefusalOf(description), HasSubstr("notes is there twice"));
}

/// Schemas are not trusted: whatever has the wrong type is published as it is, or left out.
TEST(Resources, WithOddSchemasAreHarmless) {
  for (
      const char* schema :
      {R"({"type":"object","properties":[]})", R"({"type":"object","properties":{"a":1,"metadata":null},"required":7})",
       R"({"type":"object","items":{"type":"object","x-kubernetes-embedded-resource":true,"required":"x"}})",
       R"({"type":"object","x-kubernetes-preserve-unknown-fields":"yes","nullable":1,"x-kubernetes-group-version-kind":{}})"}) {
    mesh::v1::Description description = Notes();
    ResourceOf(description).set_schema(schema);
    Refusal refusal;
    EXPECT_TRUE(ReadResources(description, kVersion, {}, refusal)) << schema;
  }
}

}  // namespace
}  // namespace apimesh::aggregator
