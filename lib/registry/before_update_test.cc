#include <gmock/gmock.h>

#include "lib/registry/before_write.h"
#include "lib/registry/testing_kind.h"

namespace apimesh::registry {
namespace {

using ::testing::HasSubstr;

const char* const kStored =
    R"("name":"a","namespace":"n","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z","generation":3,"resourceVersion":"5")";

struct Case {
  const char* name;
  std::string metadata;       // of the new object, without name, namespace and resourceVersion
  std::string fields;         // of the new object; the stored one has spec.replicas 1
  std::string want_metadata;  // a part of the resulting metadata
  std::string want_error;
  bool subresource = false;
  std::string stored;  // more metadata of the stored object, with a comma before it
};

class BeforeUpdateOf : public ::testing::TestWithParam<Case> {};

TEST_P(BeforeUpdateOf, ChecksAndCompletesMetadata) {
  const Case& c = GetParam();
  const meta::Object old = TestObject(kStored + c.stored, R"(,"spec":{"replicas":1})");
  meta::Object object = TestObject(R"("name":"a","namespace":"n","resourceVersion":"5")" + c.metadata, c.fields);
  const meta::Result<> ready = BeforeUpdate(TestKind(), Strategy(), meta::RequestContext(), object, old, c.subresource);
  if (c.want_error.empty()) {
    ASSERT_TRUE(ready) << ready.error().Message();
    EXPECT_THAT(Text(object.Metadata()), HasSubstr(c.want_metadata));
    EXPECT_THAT(Text(object.Metadata()), HasSubstr(R"("uid":"u")"));
    EXPECT_THAT(Text(object.Metadata()), HasSubstr(R"("creationTimestamp":"2026-01-01T00:00:00Z")"));
  } else {
    ASSERT_FALSE(ready);
    EXPECT_EQ(ready.error().Code(), 422);
    EXPECT_THAT(ready.error().Message(), HasSubstr(c.want_error));
  }
}

const std::string kSame = R"(,"spec":{"replicas":1})", kOther = R"(,"spec":{"replicas":2})";
const Case kCases[] = {
    {"SameSpec", "", kSame, R"("generation":3)", ""},
    {"SameNumberOfAnotherType", "", R"(,"spec":{"replicas":1.0})", R"("generation":3)", ""},
    {"OtherSpec", "", kOther, R"("generation":4)", ""},
    {"OtherSpecThroughSubresource", "", kOther, R"("generation":3)", "", true},
    {"StatusIsNoDesiredState", "", kSame + R"(,"status":{"replicas":1})", R"("generation":3)", ""},
    {"LabelsAreNoDesiredState", R"(,"labels":{"l":"1"})", kSame, R"("generation":3)", ""},
    {"GenerationOfTheClient", R"(,"generation":99)", kSame, R"("generation":3)", ""},
    {"OtherUid", R"(,"uid":"v")", kSame, "", "metadata.uid: Invalid value: \"v\": field is immutable"},
    {"OtherCreationTimestamp", R"(,"creationTimestamp":"2020-01-01T00:00:00Z")", kSame, "", ""},
    {"DeletionTimestampOfTheClient", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", kSame, "",
     "metadata.deletionTimestamp: Invalid value"},
    {"DeletionTimestampIsKept", "", kSame, R"("deletionTimestamp":"2026-01-01T00:00:00Z")", "", false,
     R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/f"])"},
    {"GracePeriodIsKept", "", kSame, R"("deletionGracePeriodSeconds":30)", "", false,
     R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)"},
    {"NewFinalizerWhileDeleted", R"(,"finalizers":["example.com/f","example.com/g"])", kSame, "",
     "no new finalizers can be added if the object is being deleted", false,
     R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/f"])"},
};
INSTANTIATE_TEST_SUITE_P(Table, BeforeUpdateOf, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BeforeUpdate, NameAndNamespaceAreImmutable) {
  for (const char* const changed : {R"("name":"b","namespace":"n")", R"("name":"a","namespace":"m")"}) {
    const meta::Object old = TestObject(kStored, kSame);
    meta::Object object = TestObject(std::string(changed) + R"(,"resourceVersion":"5")", kSame);
    const meta::Result<> ready = BeforeUpdate(TestKind(), Strategy(), meta::RequestContext(), object, old, false);
    ASSERT_FALSE(ready) << changed;
    EXPECT_THAT(ready.error().Message(), HasSubstr("field is immutable"));
  }
}

/// spec.finalizers keep the object from being deleted, like those of a namespace.
class HeldBack final : public Strategy {
 public:
  bool HoldsBackDeletion(const meta::Object& object) const override { return object.Root().contains("held"); }
};

struct DeletesCase {
  const char* name;
  const char* object;
  const char* fields;
  const char* old;
  bool want;
};

TEST(DeletesDuringUpdate, OnceNothingHoldsTheObject) {
  const DeletesCase cases[] = {
      {"it is not being deleted", "", "", R"("finalizers":["f"])", false},
      {"it loses its last finalizer", "", "", R"("deletionTimestamp":"t","finalizers":["f"])", true},
      {"it keeps a finalizer", R"("finalizers":["g"])", "", R"("deletionTimestamp":"t","finalizers":["f","g"])", false},
      {"its grace period is over", "", "", R"("deletionTimestamp":"t","deletionGracePeriodSeconds":0)", true},
      {"its grace period is not over", "", "", R"("deletionTimestamp":"t","deletionGracePeriodSeconds":30)", false},
      {"the kind holds it back", "", R"(,"held":true)", R"("deletionTimestamp":"t","finalizers":["f"])", false},
  };
  for (const DeletesCase& c : cases) {
    EXPECT_EQ(DeletesDuringUpdate(HeldBack(), TestObject(c.object, c.fields), TestObject(c.old)), c.want) << c.name;
  }
}

}  // namespace
}  // namespace apimesh::registry
