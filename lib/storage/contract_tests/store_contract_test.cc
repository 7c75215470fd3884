#include <gmock/gmock.h>

#include "lib/storage/contract_tests/test_store.h"

namespace apimesh::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_P(StoreContract, ReadsItsOwnWrites) {
  const EntryPtr created = Create("ns", "a", "red");
  EXPECT_THAT(std::string(created->Json().View()),
              HasSubstr(fmt::format(R"("uid":"uid-a","resourceVersion":"{}","labels")", created->ModRevision())));
  auto got = Get("ns", "a");
  ASSERT_TRUE(got);
  EXPECT_EQ((*got)->Json().View(), created->Json().View());
  EXPECT_EQ(Get("ns", "b").error().Code(), 404);
  EXPECT_EQ(Get("ns", "b").error().Message(), "widgets.example.com \"b\" not found");
  auto again = harness_.Await(store_->Create(ContextFor(), WidgetKey("ns", "a"),
                                             ParseObject(WidgetJson("ns", "a", "x")), std::chrono::seconds(0)));
  EXPECT_TRUE(again.error().Is(meta::Reason::kAlreadyExists));
  EXPECT_TRUE(Get("ns", "a", "0"));
  EXPECT_TRUE(Get("ns", "a", ResourceVersion(created)));
  EXPECT_EQ(Get("ns", "a", "99999").error().Code(), 504);
  EXPECT_EQ(Get("ns", "a", "x").error().Code(), 500);  // as in kube-apiserver
}

TEST_P(StoreContract, UpdatesOnlyWhatChanges) {
  const EntryPtr created = Create("ns", "a", "red");
  auto same = Recolor("ns", "a", "red");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->entry->ModRevision(), created->ModRevision());
  auto changed = Recolor("ns", "a", "blue");
  ASSERT_TRUE(changed);
  EXPECT_GT(changed->entry->ModRevision(), created->ModRevision());
  EXPECT_EQ(changed->entry->FieldValue("spec.color"), "blue");
  Preconditions wrong;
  wrong.uid = "other";
  auto refused = Recolor("ns", "a", "green", wrong);
  EXPECT_EQ(refused.error().Code(), 409);
  EXPECT_THAT(refused.error().Message(),
              HasSubstr("Precondition failed: UID in precondition: other, UID in object meta: uid-a"));
  Preconditions right;
  right.resource_version = ResourceVersion(changed->entry);
  EXPECT_TRUE(Recolor("ns", "a", "green", right));
  EXPECT_EQ(Recolor("ns", "none", "green").error().Code(), 404);
  const EntryPtr gone = Delete("ns", "a");
  EXPECT_THAT(std::string(gone->Json().View()), HasSubstr(fmt::format("\"{}\"", gone->ModRevision())));
  EXPECT_EQ(Get("ns", "a").error().Code(), 404);
}

TEST_P(StoreContract, DoesNotCreateAnObjectInsteadOfTheOneThatIsAskedFor) {
  int runs = 0;
  const auto update = [&runs](const meta::Object*) -> Task<meta::Result<std::optional<Store::Update>>> {
    ++runs;
    co_return std::optional<Store::Update>();
  };
  Preconditions preconditions;
  preconditions.uid = "deleted";
  auto refused =
      harness_.Await(store_->GuaranteedUpdate(ContextFor(), WidgetKey("ns", "a"), preconditions, true, update));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Code(), 409);
  EXPECT_THAT(refused.error().Message(),
              HasSubstr("Precondition failed: UID in precondition: deleted, UID in object meta: "));
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(Get("ns", "a").error().Code(), 404);
}

TEST_P(StoreContract, ListsPagesOfOneRevision) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Create("ns", name, "red");
  Create("other", "x", "red");
  ListOptions options;
  options.ns = "ns";
  options.limit = 2;
  auto first = List(options);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->names, ElementsAre("ns/a", "ns/b"));
  EXPECT_EQ(first->remaining, 3);
  Delete("ns", "d");
  Create("ns", "bb", "red");
  options.continue_token = first->token;
  auto second = List(options);
  ASSERT_TRUE(second) << second.error().Message();
  EXPECT_THAT(second->names, ElementsAre("ns/c", "ns/d"));
  EXPECT_EQ(second->at, first->at);
  EXPECT_EQ(second->remaining, 1);
  options.continue_token = second->token;
  auto last = List(options);
  EXPECT_THAT(last->names, ElementsAre("ns/e"));
  EXPECT_EQ(last->token, "");
  EXPECT_FALSE(last->remaining);

  ListOptions everything;
  everything.labels = meta::LabelSelector::Parse("color=red").value();
  everything.limit = 6;
  auto all = List(everything);
  EXPECT_THAT(all->names, ElementsAre("ns/a", "ns/b", "ns/bb", "ns/c", "ns/e", "other/x"));
  EXPECT_EQ(all->token, "");
  ListOptions exact;
  exact.resource_version = std::to_string(first->at);
  exact.match = VersionMatch::kExact;
  EXPECT_THAT(List(exact)->names, ElementsAre("ns/a", "ns/b", "ns/c", "ns/d", "ns/e", "other/x"));
  ListOptions by_field;
  by_field.ns = "ns";
  by_field.fields = meta::FieldSelector::Parse("metadata.name=c,spec.color=red").value();
  EXPECT_THAT(List(by_field)->names, ElementsAre("ns/c"));
}

TEST_P(StoreContract, AListOfOneNameIsNotPaginated) {
  const EntryPtr a = Create("ns", "a", "red");
  const EntryPtr b = Create("ns", "b", "red");
  const EntryPtr last = Create("other", "b", "red");
  ListOptions options;
  options.limit = 1;
  options.fields = meta::FieldSelector::Parse("metadata.name=b,metadata.namespace=ns").value();
  auto found = List(options);
  EXPECT_THAT(found->names, ElementsAre("ns/b"));
  EXPECT_EQ(found->token, "");
  // With a limit, a number means exactly that revision, except for a list of one object by its name.
  options.resource_version = ResourceVersion(a);
  found = List(options);
  EXPECT_THAT(found->names, ElementsAre("ns/b"));
  EXPECT_GE(found->at, last->ModRevision());
  options.match = VersionMatch::kExact;
  EXPECT_TRUE(List(options)->names.empty());
  // This list is read from etcd's history.
  store_ = backend_->Open(WidgetConfig());
  EXPECT_TRUE(List(options)->names.empty());
  options.resource_version = ResourceVersion(b);
  EXPECT_THAT(List(options)->names, ElementsAre("ns/b"));
}

TEST_P(StoreContract, AnyVersionOfAPageIsTheRestOfItsList) {
  for (const char* name : {"a", "b", "c", "d"}) Create("ns", name, "red");
  ListOptions options;
  options.limit = 1;
  options.continue_token = List(options)->token;
  options.resource_version = "0";
  const auto rest = List(options);
  EXPECT_THAT(rest->names, ElementsAre("ns/b", "ns/c", "ns/d"));
  EXPECT_EQ(rest->token, "");
  for (const char* version : {"5", "nonsense"}) {
    options.resource_version = version;
    EXPECT_EQ(List(options).error().Message(), "specifying resource version is not allowed when using continue");
  }
}

// Another kube-apiserver with the same flag must find the same keys.

TEST_P(StoreContract, NormalisesThePrefix) {
  for (const char* prefix : {"odd", "/odd/", "//odd//"}) {
    BackendOptions options{.clock = testing::SystemClock()};
    options.prefix = prefix;
    const auto backend = NewBackend(client_, harness_.Context().get_executor(), options);
    store_ = backend->Open(WidgetConfig());
    Create("ns", "a", "red");
    const auto found = harness_.Await(client_->Range("/odd/example.com/widgets/ns/a", {}));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kvs.size(), 1u) << prefix;
    Delete("ns", "a");
    backend->Stop();
  }
}

TEST_P(StoreContract, OldPagesAreGoneAfterCompaction) {
  Create("ns", "a", "red");
  Create("ns", "b", "red");
  ListOptions options;
  options.limit = 1;
  auto first = List(options);
  ASSERT_TRUE(first);
  const EntryPtr last = Create("ns", "c", "red");
  // A store that was opened later does not have the old revision in its window, and etcd has compacted it.
  ASSERT_TRUE(harness_.Await(client_->Compact(static_cast<etcd::Revision>(last->ModRevision()),
                                              testing::SystemClock().Steady() + std::chrono::seconds(5))));
  store_ = backend_->Open(WidgetConfig());
  options.continue_token = first->token;
  auto second = List(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().Code(), 410);
  options.continue_token = second.error().Get().continue_token;
  auto rest = List(options);
  ASSERT_TRUE(rest);
  EXPECT_THAT(rest->names, ElementsAre("ns/b"));
}

TEST_P(StoreContract, ReadsWhatOthersWrote) {
  const auto put = [&](std::string key, std::string value) {
    harness_.Await(client_->Put("/registry/example.com/widgets/" + key, std::move(value), 0,
                                testing::SystemClock().Steady() + std::chrono::seconds(5)));
  };
  put("ns/proto", std::string("k8s\0", 4) + WidgetJson("ns", "proto", "red"));
  put("ns/bad", std::string("k8s\0broken", 10));
  put("ns/worse", "no JSON");
  auto proto = Get("ns", "proto");
  ASSERT_TRUE(proto);
  EXPECT_EQ((*proto)->FieldValue("spec.color"), "red");
  EXPECT_EQ(Get("ns", "bad").error().Code(), 500);
  EXPECT_THAT(List({})->names, ElementsAre("ns/proto"));
  EXPECT_EQ(harness_.Await(store_->Delete(ContextFor(), WidgetKey("ns", "bad"), {}, nullptr)).error().Code(), 500);
  EXPECT_TRUE(harness_.Await(store_->DeleteUnreadable(ContextFor(), WidgetKey("ns", "bad"))));
  EXPECT_EQ(Get("ns", "bad").error().Code(), 404);
}

TEST_P(StoreContract, CountsAndReportsReadiness) {
  Create("ns", "a", "red");
  ASSERT_TRUE(Get("ns", "a"));
  EXPECT_EQ(*harness_.Await(store_->Count(ContextFor())), 1);
  EXPECT_TRUE(store_->Ready());
}

INSTANTIATE_TEST_SUITE_P(Backends, StoreContract, ::testing::Values("Fake", "FakeWithoutProgress", "Real"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace apimesh::storage
