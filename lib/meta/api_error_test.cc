#include "lib/meta/api_error.h"

#include <gtest/gtest.h>

#include "lib/meta/object.h"

namespace apimesh::meta {
namespace {

TEST(ApiError, IsAStatusInTheReferencesKeyOrder) {
  EXPECT_EQ(json::serialize(NotFound(GroupResource{"", "pods"}, "x").ToStatus()),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404})");
  EXPECT_EQ(json::serialize(AlreadyExists(GroupResource{"apps", "deployments"}, "x").ToStatus()),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"x\" already exists","reason":"AlreadyExists","details":{"name":"x","group":"apps","kind":"deployments"},"code":409})");
}

TEST(ApiError, InvalidSaysEachComplaintOnce) {
  const FieldErrors errors = {Required("spec.a", ""), Required("spec.a", ""), Invalid("spec.b", "1", "bad")};
  const ApiError error = Invalid(GroupKind{"", "Pod"}, "x", errors);
  EXPECT_EQ(error.Message(), R"(Pod "x" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: bad])");
  EXPECT_EQ(error.Get().causes.size(), 3u);
  EXPECT_EQ(Invalid(GroupKind{"apps", "Deployment"}, "x", {Forbidden("f", "no")}).Message(),
            R"(Deployment.apps "x" is invalid: f: Forbidden: no)");
}

TEST(ApiError, SurvivesTheWayThroughAStatus) {
  const ApiError error = Conflict(GroupResource{"", "pods"}, "x", "why");
  EXPECT_EQ(FromStatus(error.ToStatus()).ToStatus(), error.ToStatus());
  EXPECT_EQ(error.Message(), R"(Operation cannot be fulfilled on pods "x": why)");
  EXPECT_EQ(ApiError().Code(), 500);
}

TEST(FieldError, Texts) {
  EXPECT_EQ(NotSupported("f", "\"x\"", {"a", "b"}).Message(), R"(Unsupported value: "x": supported values: "a", "b")");
  EXPECT_EQ(TooLong("f", 5).Message(), "Too long: may not be more than 5 bytes");
  EXPECT_EQ(Duplicate("f", "\"x\"").Message(), R"(Duplicate value: "x")");
  EXPECT_EQ(TooMany("f", 3, 2).Message(), "Too many: 3: must have at most 2 items");
  EXPECT_EQ(Quoted("a\"\n\x01"), R"("a\"\n\x01")");
  EXPECT_EQ(Path("spec").Child("c").Index(0).Key("k").ToString(), "spec.c[0][k]");
}

TEST(Object, AccessorsForgiveMissingAndWrongFields) {
  Object object(json::parse(R"({"metadata":{"name":5,"labels":{"a":"b"}}})").as_object());
  EXPECT_EQ(object.Name(), "");
  EXPECT_EQ(*object.Label("a"), "b");
  EXPECT_EQ(object.Annotation("a"), nullptr);
  object.SetGvk({"apps", "v1", "Deployment"});
  EXPECT_EQ(object.GetGvk().ToString(), "apps/v1, Kind=Deployment");
  object.SetMeta("generation", 3);
  EXPECT_EQ(object.Generation(), 3);
  object.EraseMeta("labels");
  EXPECT_EQ(object.Label("a"), nullptr);
  EXPECT_EQ(FindString(object.Root(), "metadata", "missing"), "");
}

TEST(GroupVersion, Parses) {
  EXPECT_EQ(GroupVersion::Parse("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(GroupVersion::Parse("apps/v1"), (GroupVersion{"apps", "v1"}));
  EXPECT_EQ(GroupVersion::Parse("a/b/c").version, "a/b/c");
}

}  // namespace
}  // namespace apimesh::meta
