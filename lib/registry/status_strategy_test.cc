#include "lib/registry/status_strategy.h"

#include <gmock/gmock.h>

#include "lib/meta/equal.h"
#include "lib/registry/testing_kind.h"

namespace apimesh::registry {
namespace {

using ::testing::ElementsAre;

const char* const kStored = R"("name":"a","labels":{"stored":"1"},"annotations":{"stored":"1"})";
const char* const kWritten =
    R"("name":"a","labels":{"written":"1"},"finalizers":["written/f"],"ownerReferences":[{"uid":"written"}],"managedFields":[{}])";

struct Case {
  const char* name;
  KeptMetadata kept;
  std::string want;  // the resulting metadata
};

TEST(StatusStrategy, KeepsTheMetadataThatTheKindNames) {
  const Case cases[] = {
      {"nothing", {}, std::string("{") + kWritten + "}"},
      {"labels",
       {"labels"},
       R"({"name":"a","labels":{"stored":"1"},"finalizers":["written/f"],"ownerReferences":[{"uid":"written"}],"managedFields":[{}]})"},
      {"owners",
       {"ownerReferences"},
       R"({"name":"a","labels":{"written":"1"},"finalizers":["written/f"],"managedFields":[{}]})"},
      {"all", AllMetadata(),
       R"({"name":"a","labels":{"stored":"1"},"managedFields":[{}],"annotations":{"stored":"1"}})"},
  };
  for (const Case& c : cases) {
    const StatusStrategy strategy(std::make_shared<Strategy>(), c.kept);
    const meta::Object old = TestObject(kStored);
    meta::Object object = TestObject(kWritten);
    strategy.PrepareForUpdate(meta::RequestContext(), object, old);
    EXPECT_TRUE(meta::Equal(object.Metadata(), boost::json::parse(c.want).as_object()))
        << c.name << " " << Text(object.Metadata());
  }
}

TEST(StatusStrategy, WritesNothingElseButTheStatus) {
  const StatusStrategy strategy(std::make_shared<Strategy>());
  const meta::Object old = TestObject("", R"(,"kind":"K","spec":{"a":1},"gone":1,"status":{"s":1})");
  meta::Object object = TestObject("", R"(,"kind":"K","spec":{"a":2},"new":1,"status":{"s":2})");
  strategy.PrepareForUpdate(meta::RequestContext(), object, old);
  EXPECT_TRUE(
      meta::Equal(object.Root(), TestObject("", R"(,"kind":"K","spec":{"a":1},"gone":1,"status":{"s":2})").Root()))
      << Text(object.Root());
}

TEST(SpecStrategy, KeepsTheStatus) {
  const SpecStrategy strategy;
  const meta::Object old = TestObject("", R"(,"spec":{"a":1},"status":{"s":1})");
  meta::Object object = TestObject("", R"(,"spec":{"a":2},"status":{"s":2})");
  strategy.PrepareForUpdate(meta::RequestContext(), object, old);
  EXPECT_EQ(Text(object.Root()), R"({"metadata":{},"spec":{"a":2},"status":{"s":1}})");
  strategy.PrepareForCreate(meta::RequestContext(), object);
  EXPECT_EQ(Text(object.Root()), R"({"metadata":{},"spec":{"a":2}})");
}

TEST(StatusSubresource, NobodyOwnsWhatItDoesNotWrite) {
  const auto base = std::make_shared<Strategy>();
  EXPECT_THAT(MakeStatusSubresource(base).reset_fields, ElementsAre("spec"));
  EXPECT_THAT(MakeStatusSubresource(base, {"labels"}).reset_fields, ElementsAre("metadata.labels", "spec"));
  EXPECT_THAT(MakeStatusSubresource(base, AllMetadata()).reset_fields, ElementsAre("metadata", "spec"));
}

}  // namespace
}  // namespace apimesh::registry
