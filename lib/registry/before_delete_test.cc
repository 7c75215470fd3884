#include <gmock/gmock.h>

#include "lib/meta/time.h"
#include "lib/registry/before_write.h"
#include "lib/registry/testing_kind.h"

namespace apimesh::registry {
namespace {

using ::testing::HasSubstr;

const WallTime kNow = *meta::ParseTime("2026-01-01T00:01:00Z");

/// A kind with graceful deletion and a default grace period of 30 seconds.
class Graceful final : public Strategy {
 public:
  std::optional<std::int64_t> GracePeriod(const meta::Object&, std::optional<std::int64_t> asked) const override {
    return asked.value_or(30);
  }
};
class HeldBack final : public Strategy {
 public:
  bool HoldsBackDeletion(const meta::Object&) const override { return true; }
  void PrepareForDelete(meta::Object& object) const override { object.Root()["status"] = "Terminating"; }
};
class Orphaning final : public Strategy {
 public:
  bool OrphansByDefault() const override { return true; }
};
class Protected final : public Strategy {
 public:
  meta::Result<> CheckDelete(const meta::Object& object) const override {
    return meta::Forbidden({"", "things"}, object.Name(), "it is protected");
  }
};

struct Case {
  const char* name;
  const Strategy* strategy;
  const char* metadata;
  DeleteOptions options;
  Deletion want;
  const char* want_metadata;  // a part of the resulting metadata
};

DeleteOptions Grace(std::int64_t seconds) { return {.grace_period_seconds = seconds}; }
DeleteOptions Policy(const char* policy) { return {.propagation_policy = policy}; }

const Strategy kPlain;
const Graceful kGraceful;
const HeldBack kHeldBack;
const Orphaning kOrphaning;
const char* const kInTenSeconds = R"("deletionTimestamp":"2026-01-01T00:01:10Z","deletionGracePeriodSeconds":30)";

const Case kCases[] = {
    {"NothingHoldsIt", &kPlain, R"("name":"a")", {}, Deletion::kNow, ""},
    {"Finalizer",
     &kPlain,
     R"("generation":1,"finalizers":["f"])",
     {},
     Deletion::kMark,
     R"("generation":2,"finalizers":["f"],"deletionTimestamp":"2026-01-01T00:01:00Z","deletionGracePeriodSeconds":0)"},
    {"FinalizerAgain",
     &kPlain,
     R"("generation":2,"finalizers":["f"],"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0)",
     {},
     Deletion::kMark,
     R"("generation":2,"finalizers":["f"],"deletionTimestamp":"2026-01-01T00:00:00Z")"},
    {"Orphan", &kPlain, "", Policy("Orphan"), Deletion::kMark, R"("finalizers":["orphan"])"},
    {"OrphanByDefault", &kOrphaning, "", {}, Deletion::kMark, R"("finalizers":["orphan"])"},
    {"BackgroundInsteadOfDefault", &kOrphaning, "", Policy("Background"), Deletion::kNow, ""},
    {"StoredForegroundInsteadOfDefault",
     &kOrphaning,
     R"("finalizers":["foregroundDeletion"])",
     {},
     Deletion::kMark,
     R"("finalizers":["foregroundDeletion"])"},
    {"Foreground", &kPlain, "", Policy("Foreground"), Deletion::kMark, R"("finalizers":["foregroundDeletion"])"},
    {"BackgroundRemovesOrphan", &kPlain, R"("finalizers":["orphan"])", Policy("Background"), Deletion::kNow, ""},
    {"OrphanDependents", &kPlain, "", {.orphan_dependents = true}, Deletion::kMark, R"("finalizers":["orphan"])"},
    {"StoredOrphanIsKept", &kPlain, R"("finalizers":["orphan"])", {}, Deletion::kMark, R"("finalizers":["orphan"])"},
    {"Graceful",
     &kGraceful,
     "",
     {},
     Deletion::kMark,
     R"("deletionTimestamp":"2026-01-01T00:01:30Z","deletionGracePeriodSeconds":30)"},
    {"GracefulByTheClient", &kGraceful, "", Grace(5), Deletion::kMark,
     R"("deletionTimestamp":"2026-01-01T00:01:05Z","deletionGracePeriodSeconds":5)"},
    {"GracefulAtOnce", &kGraceful, "", Grace(0), Deletion::kMarkThenDelete, R"("deletionGracePeriodSeconds":0)"},
    {"GracefulAtOnceWithFinalizer", &kGraceful, R"("finalizers":["f"])", Grace(0), Deletion::kMark,
     R"("deletionGracePeriodSeconds":0)"},
    {"NegativeIsOneSecond", &kGraceful, "", Grace(-7), Deletion::kMark, R"("deletionGracePeriodSeconds":1)"},
    {"GracefulAgain", &kGraceful, kInTenSeconds, {}, Deletion::kPending, kInTenSeconds},
    {"GracefulLonger", &kGraceful, kInTenSeconds, Grace(60), Deletion::kPending, kInTenSeconds},
    {"GracefulShorter", &kGraceful, kInTenSeconds, Grace(25), Deletion::kMark,
     R"("deletionTimestamp":"2026-01-01T00:01:05Z","deletionGracePeriodSeconds":25)"},
    {"GracefulShorterThanWhatHasPassed", &kGraceful, kInTenSeconds, Grace(5), Deletion::kMark,
     R"("deletionTimestamp":"2026-01-01T00:01:00Z","deletionGracePeriodSeconds":1)"},
    {"GracefulNow", &kGraceful, kInTenSeconds, Grace(0), Deletion::kMarkThenDelete,
     R"("deletionTimestamp":"2026-01-01T00:01:00Z","deletionGracePeriodSeconds":0)"},
    {"HeldBack", &kHeldBack, R"("name":"a")", {}, Deletion::kMark, R"("deletionTimestamp":"2026-01-01T00:01:00Z")"},
    {"HeldBackAgain", &kHeldBack, R"("deletionTimestamp":"2026-01-01T00:00:00Z")", {}, Deletion::kPending, ""},
};

class BeforeDeleteOf : public ::testing::TestWithParam<Case> {};

TEST_P(BeforeDeleteOf, DecidesAndMarks) {
  const Case& c = GetParam();
  meta::Object object = TestObject(c.metadata);
  const meta::Result<Deletion> decision = BeforeDelete(TestKind(), *c.strategy, object, c.options, kNow);
  ASSERT_TRUE(decision) << decision.error().Message();
  EXPECT_EQ(static_cast<int>(*decision), static_cast<int>(c.want));
  EXPECT_THAT(Text(object.Metadata()), HasSubstr(c.want_metadata));
  EXPECT_EQ(object.Root().contains("status"), c.strategy == &kHeldBack && c.want == Deletion::kMark);
}
INSTANTIATE_TEST_SUITE_P(Table, BeforeDeleteOf, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BeforeDelete, AsksTheStrategy) {
  meta::Object object = TestObject(R"("name":"a","finalizers":["f"])");
  const meta::Result<Deletion> decision = BeforeDelete(TestKind(), Protected(), object, {}, kNow);
  ASSERT_FALSE(decision);
  EXPECT_EQ(decision.error().Message(), "things \"a\" is forbidden: it is protected");
  EXPECT_TRUE(object.DeletionTimestamp().empty());
}

TEST(BeforeDelete, HoldsPreconditions) {
  struct PreconditionCase {
    DeleteOptions options;
    const char* want;
  };
  const PreconditionCase cases[] = {
      {{.uid = "u"}, ""},
      {{.uid = "v"}, "the UID in the precondition (v) does not match the UID in record (u)"},
      {{.resource_version = "5"}, ""},
      {{.resource_version = "6"},
       "the ResourceVersion in the precondition (6) does not match the ResourceVersion in record (5)"},
  };
  for (const PreconditionCase& c : cases) {
    meta::Object object = TestObject(R"("name":"a","uid":"u","resourceVersion":"5","finalizers":["f"])");
    const meta::Result<Deletion> decision = BeforeDelete(TestKind(), kPlain, object, c.options, kNow);
    EXPECT_EQ(decision.has_value(), *c.want == '\0');
    EXPECT_THAT(decision ? std::string() : decision.error().Message(), HasSubstr(c.want));
    EXPECT_EQ(object.DeletionTimestamp().empty(), !decision) << "a refused deletion marks nothing";
  }
}

}  // namespace
}  // namespace apimesh::registry
