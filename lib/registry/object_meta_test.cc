#include "lib/registry/object_meta.h"

#include <gmock/gmock.h>

#include "lib/registry/testing_kind.h"

namespace apimesh::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MatchNamespace, FillsClearsOrRefuses) {
  struct Case {
    const char* metadata;
    const char* request;
    const char* want;  // nullptr: the object is rejected
  };
  const Case cases[] = {
      {R"("namespace":"n")", "n", "n"},     {"", "n", "n"}, {R"("namespace":"n")", "", ""}, {"", "", ""},
      {R"("namespace":"m")", "n", nullptr},
  };
  for (const Case& c : cases) {
    meta::Object object = TestObject(c.metadata);
    const meta::Result<> matched = MatchNamespace(object, c.request);
    EXPECT_EQ(matched.has_value(), c.want != nullptr) << c.metadata << " in " << c.request;
    if (matched) {
      EXPECT_EQ(object.Namespace(), c.want);
    } else {
      EXPECT_EQ(matched.error().Code(), 400);
    }
  }
}

TEST(RemoveDuplicateOwners, KeepsTheFirstOfEach) {
  meta::Object object = TestObject(
      R"("ownerReferences":[{"uid":"1"},{"uid":"2"},{"uid":"1"},{"uid":"2","controller":true},{"uid":"1"}])");
  EXPECT_THAT(RemoveDuplicateOwners(object), ElementsAre("1", "1"));
  EXPECT_EQ(Text(object.Metadata()), R"({"ownerReferences":[{"uid":"1"},{"uid":"2"},{"uid":"2","controller":true}]})");
  EXPECT_THAT(RemoveDuplicateOwners(object), IsEmpty());
}

TEST(Finalizers, AreReadAndSet) {
  meta::Object object = TestObject(R"("finalizers":["a/b","c/d"])");
  EXPECT_THAT(Finalizers(object), ElementsAre("a/b", "c/d"));
  SetFinalizers(object, {"e/f"});
  EXPECT_THAT(Finalizers(object), ElementsAre("e/f"));
  SetFinalizers(object, {});
  EXPECT_EQ(Text(object.Metadata()), "{}");
}

}  // namespace
}  // namespace apimesh::registry
