#include "lib/meta/errors/api_error.h"

#include <gtest/gtest.h>

#include "lib/meta/object.h"

namespace apimesh::meta {
namespace {

TEST(ApiError, IsAStatusInTheReferencesKeyOrder) {
  EXPECT_EQ(
      json::serialize(NotFound(GroupResource{"", "pods"}, "x").ToStatus()),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404})");
  EXPECT_EQ(
      json::serialize(AlreadyExists(GroupResource{"apps", "deployments"}, "x").ToStatus()),
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

TEST(FieldErrors, AreBounded) {
  FieldErrors errors;
  for (int i = 0; i < 100'000; ++i) errors.push_back(Required(std::to_string(i), ""));
  EXPECT_EQ(errors.size(), FieldErrors::kMaxErrors);
  EXPECT_TRUE(errors.Full());
  const ApiError error = Invalid(GroupKind{"", "Pod"}, "x", errors);
  EXPECT_EQ(error.Get().causes.size(), FieldErrors::kMaxErrors);
  EXPECT_TRUE(error.Message().ends_with("999: Required value, too many errors]"))
      << error.Message().substr(error.Message().size() - 60);

  FieldErrors long_ones;
  for (int i = 0; i < 1000; ++i) long_ones.push_back(Invalid("a", std::string(100'000, 'x'), ""));
  EXPECT_LE(long_ones.size(), 11u);
}

TEST(FieldErrors, AreNotEmptyOnceSomeWereDropped) {
  FieldErrors errors;
  for (int i = 0; i < 2000; ++i) errors.push_back(Required("a", ""));
  errors.EraseIf([](const FieldError&) { return true; });
  EXPECT_EQ(errors.size(), 0u);
  EXPECT_FALSE(errors.empty()) << "nobody knows what the dropped errors were";
  FieldErrors all;
  all.Append(errors);
  EXPECT_FALSE(all.empty());
}

TEST(Path, DoesNotCopyWhatIsAboveIt) {
  const Path deep = Path("spec").Child(std::string(1'000'000, 'k'));
  Path last;
  for (std::size_t i = 0; i < 100'000; ++i) last = deep.Index(i).Child("a").Index(0);
  EXPECT_EQ(last.ToString().size(), std::string("spec.[99999].a[0]").size() + 1'000'000);
  EXPECT_EQ(Path().Child("a").Key("b").ToString(), "a[b]");
  EXPECT_EQ(Path().ToString(), "");
}

TEST(Path, CanHaveAnyNumberOfSteps) {
  Path path("spec");
  std::string text = "spec";
  for (std::size_t i = 0; i < 100; ++i) {
    path = path.Child("items").Index(i);
    text += ".items[" + std::to_string(i) + "]";
    EXPECT_EQ(path.ToString(), text);
  }
  const Path copy = path;
  EXPECT_EQ(path.Key("a").ToString(), text + "[a]");
  EXPECT_EQ(copy.Key("b").Child("c").ToString(), text + "[b].c");
}

TEST(Path, KeepsTextsThatTheCallerGivesAway) {
  Path path("spec");
  for (int i = 0; i < 3; ++i) path = path.Key(std::string(100, static_cast<char>('a' + i))).Child(std::string("name"));
  const auto times = [](char c) { return "[" + std::string(100, c) + "].name"; };
  EXPECT_EQ(path.ToString(), "spec" + times('a') + times('b') + times('c'));
}

TEST(ApiError, SurvivesTheWayThroughAStatus) {
  const ApiError error = Conflict(GroupResource{"", "pods"}, "x", "why");
  EXPECT_EQ(FromStatus(error.ToStatus()).ToStatus(), error.ToStatus());
  EXPECT_EQ(error.Message(), R"(Operation cannot be fulfilled on pods "x": why)");
  EXPECT_EQ(ApiError().Code(), 500);
}

TEST(ApiError, TheReasonOfAPeerIsKept) {
  for (const char* text : {"", "NotFound", "StorageReadError", "MyWebhookSaysNo", "notfound"}) {
    const ApiError error = FromStatus({{"reason", text}, {"code", 400}});
    EXPECT_EQ(error.ReasonText(), text);
    EXPECT_EQ(error.Is(Reason::kNotFound), error.ReasonText() == "NotFound") << text;
  }
}

TEST(Reason, TextAndValueAreConvertedBothWays) {
  for (int i = static_cast<int>(Reason::kAlreadyExists); i <= static_cast<int>(Reason::kUnsupportedMediaType); ++i) {
    const Reason reason = static_cast<Reason>(i);
    EXPECT_EQ(ReasonFromString(ToString(reason)), reason) << ToString(reason);
  }
  EXPECT_EQ(ReasonFromString(""), Reason::kNone);
  EXPECT_EQ(ReasonFromString("Other"), Reason::kOther);
}

TEST(FieldError, Texts) {
  EXPECT_EQ(NotSupported("f", "\"x\"", {"a", "b"}).Message(), R"(Unsupported value: "x": supported values: "a", "b")");
  EXPECT_EQ(TooLong("f", 5).Message(), "Too long: may not be more than 5 bytes");
  EXPECT_EQ(TooLong("f", 1).Message(), "Too long: may not be more than 1 byte");
  EXPECT_EQ(Duplicate("f", "\"x\"").Message(), R"(Duplicate value: "x")");
  EXPECT_EQ(TooMany("f", 3, 2).Message(), "Too many: 3: must have at most 2 items");
  EXPECT_EQ(TooMany("f", 3, 1).Message(), "Too many: 3: must have at most 1 item");
  EXPECT_EQ(Quoted("a\"\n\x01"), R"("a\"\n\x01")");
  EXPECT_EQ(Quoted("é😀 日本"), R"("é😀 日本")");
  EXPECT_EQ(Quoted("\u00a0\u200b\ufffb\U00088888\xff"), R"("\u00a0\u200b\ufffb\U00088888\xff")");
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
