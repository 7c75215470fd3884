#include <gmock/gmock.h>

#include "lib/registry/before_write.h"
#include "lib/registry/testing_kind.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::registry {
namespace {

using ::testing::HasSubstr;

Sources FixedSources(const Clock& clock) {
  Sources sources;
  sources.clock = &clock;
  sources.random = [] { return std::uint64_t{1}; };
  return sources;
}

struct NameCase {
  const char* metadata;
  std::string want;  // the name or its prefix
  std::size_t length;
};

TEST(FillSystemMeta, NamesAnObject) {
  const testing::ManualClock clock;
  const NameCase cases[] = {
      {R"("name":"a")", "a", 1},           {R"("name":"a","generateName":"x-")", "a", 1},
      {R"("generateName":"x-")", "x-", 7}, {R"("name":"","generateName":"x-")", "x-", 7},
      {R"("labels":{})", "", 0},
  };
  for (const NameCase& c : cases) {
    meta::Object object = TestObject(c.metadata);
    FillSystemMeta(object, FixedSources(clock));
    EXPECT_TRUE(object.Name().starts_with(c.want)) << c.metadata;
    EXPECT_EQ(object.Name().size(), c.length) << c.metadata;
    EXPECT_EQ(object.Uid().size(), 36U);
    EXPECT_EQ(meta::FindString(object.Metadata(), "creationTimestamp"), "2026-01-01T00:00:00Z");
  }
}

TEST(FillSystemMeta, CutsALongGenerateName) {
  const testing::ManualClock clock;
  meta::Object object = TestObject("\"generateName\":\"" + std::string(100, 'x') + "\"");
  FillSystemMeta(object, FixedSources(clock));
  EXPECT_EQ(object.Name().size(), 63U);
}

TEST(ClearSystemMeta, LeavesWhatClientsSet) {
  meta::Object object =
      TestObject(R"("name":"a","uid":"u","creationTimestamp":"t","deletionTimestamp":"t",)"
                 R"("deletionGracePeriodSeconds":1,"selfLink":"/","labels":{"l":"1"},"resourceVersion":"5")");
  ClearSystemMeta(object);
  EXPECT_EQ(Text(object.Metadata()), R"({"name":"a","labels":{"l":"1"},"resourceVersion":"5"})");
}

struct Case {
  const char* name;
  const char* metadata;
  std::string want;  // a part of the message; empty if the object is accepted
};

class BeforeCreateOf : public ::testing::TestWithParam<Case> {};

TEST_P(BeforeCreateOf, ValidatesMetadata) {
  const Case& c = GetParam();
  meta::Object object = TestObject(c.metadata);
  const meta::Result<> ready = BeforeCreate(TestKind(), Strategy(), meta::RequestContext(), object);
  if (c.want.empty()) {
    EXPECT_TRUE(ready) << ready.error().Message();
    EXPECT_EQ(object.Generation(), 1);
  } else {
    ASSERT_FALSE(ready);
    EXPECT_EQ(ready.error().Code(), 422);
    EXPECT_THAT(ready.error().Message(), HasSubstr(c.want));
  }
}

const Case kCases[] = {
    {"Plain", R"("name":"a","namespace":"n")", ""},
    {"NoName", R"("namespace":"n")", "metadata.name: Required value: name or generateName is required"},
    {"BadName", R"("name":"A_","namespace":"n")", "metadata.name: Invalid value: \"A_\""},
    {"NoNamespace", R"("name":"a")", "metadata.namespace: Required value"},
    {"BadLabel", R"("name":"a","namespace":"n","labels":{"a":"-"})", "metadata.labels: Invalid value: \"-\""},
    {"StandardFinalizer", R"("name":"a","namespace":"n","finalizers":["orphan"])", ""},
    {"QualifiedFinalizer", R"("name":"a","namespace":"n","finalizers":["example.com/f"])", ""},
    {"BareFinalizer", R"("name":"a","namespace":"n","finalizers":["f"])",
     "name is neither a standard finalizer name nor is it fully qualified"},
    {"TwoPropagations", R"("name":"a","namespace":"n","finalizers":["orphan","foregroundDeletion"])",
     "metadata.finalizers"},
};
INSTANTIATE_TEST_SUITE_P(Table, BeforeCreateOf, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

/// A strategy that records the order of its calls.
class Recording final : public Strategy {
 public:
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    object.Root()["prepared"] = true;
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    if (object.Root().contains("refused")) return {meta::Invalid("refused", "true", "says the strategy")};
    return object.Root().contains("prepared") ? meta::FieldErrors()
                                              : meta::FieldErrors{meta::Invalid("prepared", "", "is missing")};
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object&,
                                    const meta::Object*) const override {
    return {"careful"};
  }
};

TEST(BeforeCreate, PreparesThenValidatesThenWarns) {
  const meta::RequestContext ctx;
  meta::Object object = TestObject(R"("name":"a","namespace":"n")");
  EXPECT_TRUE(BeforeCreate(TestKind(), Recording(), ctx, object));
  EXPECT_THAT(ctx.Warnings(), ::testing::ElementsAre("careful"));
}

TEST(BeforeCreate, DoesNotWarnOfWhatItRefuses) {
  const meta::RequestContext ctx;
  meta::Object object = TestObject(R"("name":"A_","namespace":"n")", R"(,"refused":true)");
  const meta::Result<> ready = BeforeCreate(TestKind(), Recording(), ctx, object);
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().Message(), HasSubstr("metadata.name"));
  EXPECT_THAT(ready.error().Message(), HasSubstr("says the strategy"));
  EXPECT_TRUE(ctx.Warnings().empty());
}

TEST(BeforeCreate, NamesAlwaysFitIntoAPath) {
  Resource kind = TestKind();
  kind.validate_name = [](std::string_view, bool) { return std::vector<std::string>(); };
  meta::Object object = TestObject(R"("name":"a/b","namespace":"n")");
  const meta::Result<> ready = BeforeCreate(kind, Strategy(), meta::RequestContext(), object);
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().Message(), HasSubstr("may not contain '/'"));
}

}  // namespace
}  // namespace apimesh::registry
