#include "services/core-api/groups/core/namespace/namespace.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing_cases.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

/// Returns the namespace after an update through the resource ("") or a subresource.
meta::Object Updated(const char* subresource, std::string_view before, std::string_view after) {
  registry::Resource resource = NamespaceResource({});
  const registry::StrategyPtr strategy =
      *subresource ? SubresourceOf(resource, subresource).strategy : resource.strategy;
  const meta::Object old = Parse(before);
  meta::Object object = Parse(after);
  strategy->PrepareForUpdate({}, object, old);
  return object;
}

/// Returns the errors of an update through a subresource.
Strings ErrorsOf(const char* subresource, std::string_view after) {
  registry::Resource resource = NamespaceResource({});
  const meta::Object object = Parse(after);
  return Texts(SubresourceOf(resource, subresource).strategy->ValidateUpdate({}, object, Parse("{}")));
}

TEST(Namespace, ANewOneIsActiveWithAFinalizerAndTheLabelOfItsName) {
  const registry::Resource resource = NamespaceResource({});
  meta::Object object = Defaulted(resource, R"({"metadata":{"name":"n"},"status":{"phase":"Terminating"}})");
  resource.strategy->PrepareForCreate({}, object);
  EXPECT_EQ(JsonAt(object, "metadata", "labels"), R"({"kubernetes.io/metadata.name":"n"})");
  EXPECT_EQ(JsonAt(object, "spec", "finalizers"), R"(["kubernetes"])");
  EXPECT_EQ(JsonAt(object, "status"), R"({"phase":"Active"})");
}

TEST(Namespace, OtherFinalizersAndLabelsOfANewOneAreKept) {
  const registry::Resource resource = NamespaceResource({});
  meta::Object object = Parse(
      R"({"metadata":{"name":"n","labels":{"a":"b","kubernetes.io/metadata.name":"x"}},"spec":{"finalizers":["a.b/c"]}})");
  resource.strategy->PrepareForCreate({}, object);
  EXPECT_EQ(JsonAt(object, "metadata", "labels"), R"({"a":"b","kubernetes.io/metadata.name":"n"})");
  EXPECT_EQ(JsonAt(object, "spec", "finalizers"), R"(["a.b/c","kubernetes"])");
}

TEST(Namespace, FinalizersAreQualifiedOrStandard) {
  EXPECT_EQ(CreateErrors(NamespaceResource({}), R"({"spec":{"finalizers":["orphan","a.b/c"]}})"), Strings());
  EXPECT_EQ(
      CreateErrors(NamespaceResource({}), R"({"spec":{"finalizers":["other"]}})"),
      Strings{"spec.finalizers: Invalid value: \"other\": name is neither a standard finalizer name nor is it fully "
              "qualified"});
}

TEST(Namespace, AnUpdateChangesNeitherFinalizersNorStatus) {
  const meta::Object object =
      Updated("", R"({"metadata":{"name":"n"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})",
              R"({"metadata":{"name":"n","labels":{"a":"b"}},"spec":{"finalizers":[]},"status":{"phase":"Other"}})");
  EXPECT_EQ(JsonAt(object, "spec", "finalizers"), R"(["kubernetes"])");
  EXPECT_EQ(JsonAt(object, "status", "phase"), R"("Active")");
  EXPECT_EQ(JsonAt(object, "metadata", "labels"), R"({"a":"b","kubernetes.io/metadata.name":"n"})");
}

TEST(Namespace, ItsSubresourcesChangeOnePartEach) {
  const char kBefore[] = R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})";
  const char kAfter[] = R"({"spec":{"finalizers":["orphan"]},"status":{"phase":"Terminating"}})";
  const meta::Object status = Updated("status", kBefore, kAfter);
  EXPECT_EQ(JsonAt(status, "spec", "finalizers"), R"(["kubernetes"])");
  EXPECT_EQ(JsonAt(status, "status", "phase"), R"("Terminating")");
  const meta::Object finalize = Updated("finalize", kBefore, kAfter);
  EXPECT_EQ(JsonAt(finalize, "spec", "finalizers"), R"(["orphan"])");
  EXPECT_EQ(JsonAt(finalize, "status", "phase"), R"("Active")");
}

TEST(Namespace, ThePhaseFollowsTheDeletion) {
  const std::string deleted = R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":)";
  EXPECT_EQ(ErrorsOf("status", R"({"status":{"phase":"Active"}})"), Strings());
  EXPECT_EQ(ErrorsOf("status", deleted + R"("Terminating"}})"), Strings());
  EXPECT_EQ(
      ErrorsOf("status", R"({"status":{"phase":"Terminating"}})"),
      Strings{"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"});
  EXPECT_EQ(ErrorsOf("status", deleted + R"("Active"}})"),
            Strings{"status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not "
                    "empty"});
}

TEST(Namespace, FinalizeNamesTheIndexOfAWrongFinalizer) {
  EXPECT_EQ(ErrorsOf("finalize", R"({"spec":{"finalizers":["kubernetes","other"]}})"),
            Strings{"spec.finalizers[1]: Invalid value: \"other\": name is neither a standard finalizer name nor is it "
                    "fully qualified"});
}

TEST(Namespace, FinalizersHoldBackTheDeletion) {
  const registry::Resource resource = NamespaceResource({});
  EXPECT_TRUE(resource.strategy->HoldsBackDeletion(Parse(R"({"spec":{"finalizers":["kubernetes"]}})")));
  EXPECT_FALSE(resource.strategy->HoldsBackDeletion(Parse(R"({"spec":{"finalizers":[]}})")));
  EXPECT_FALSE(resource.strategy->HoldsBackDeletion(Parse("{}")));
  meta::Object object = Parse(R"({"status":{"phase":"Active"}})");
  resource.strategy->PrepareForDelete(object);
  EXPECT_EQ(JsonAt(object, "status", "phase"), R"("Terminating")");
}

TEST(Namespace, Table) {
  EXPECT_EQ(Row(NamespaceResource({}), R"({"metadata":{"name":"n"},"status":{"phase":"Active"}})"),
            R"(["n","Active","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
