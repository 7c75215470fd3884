#include "lib/admission/objects/objects.h"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "lib/admission/objects/cluster_objects.h"
#include "lib/endpoint/testing_server.h"
#include "lib/testing/fake_store.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const meta::Gvr kConfigMaps{"", "v1", "configmaps"};

/// Represents a server of this process as a peer process.
class PeerProcess final : public mesh::DelegateClient {
 public:
  explicit PeerProcess(std::shared_ptr<mesh::DelegateHandler> handler) : handler_(std::move(handler)) {}
  Task<mesh::Response> Call(mesh::Request&& request) override {
    ++calls;
    return handler_->Call(std::move(request));
  }
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    if (request.info.verb == meta::Verb::kList) ++calls;
    return handler_->Stream(std::move(request), stream);
  }
  Task<mesh::Connection> Connect(mesh::Request) override { co_return mesh::Connection{}; }
  std::shared_ptr<void> Describe(std::function<void(std::optional<mesh::Description>)>) override { return nullptr; }
  int calls = 0;

 private:
  const std::shared_ptr<mesh::DelegateHandler> handler_;
};

meta::Object ConfigMap(const std::string& name, const std::string& app) {
  return meta::Object(boost::json::parse(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name +
                                         R"(","namespace":"ns","labels":{"app":")" + app + R"("}}})")
                          .as_object());
}

enum class Where { kThisProcess, kAnotherProcess };

/// Runs the same tests for both kinds of sources: a store, and a server that has the store.
class ReadObjects : public ::testing::TestWithParam<Where> {
 protected:
  ReadObjects() {
    store_ = server_.config_map_store;
    ClusterObjects::Parts parts{.clock = testing::SystemClock()};
    parts.executor = context_.get_executor();
    if (GetParam() == Where::kThisProcess) {
      parts.store = [this](const meta::Gvr& resource) -> storage::StorePtr {
        return resource == kConfigMaps ? store_ : nullptr;
      };
    } else {
      peer_ = std::make_shared<PeerProcess>(std::shared_ptr<mesh::DelegateHandler>(server_.server.get(), [](auto*) {}));
      parts.server = peer_;
    }
    objects_ = std::make_shared<ClusterObjects>(std::move(parts));
  }
  ~ReadObjects() override {
    objects_->Stop();
    context_.restart();
    context_.run_for(std::chrono::milliseconds(50));
  }

  void Put(const std::string& name, const std::string& app) {
    store_->Put(storage::Key{"ns/" + name}, ConfigMap(name, app));
  }
  void Delete(const std::string& name) {
    const storage::Store::ValidateFn accept = [](const meta::Object&) -> Task<meta::Result<>> {
      co_return meta::Result<>();
    };
    ASSERT_TRUE(testing::RunTask(context_, store_->Delete({}, storage::Key{"ns/" + name}, {}, accept)));
  }
  /// Runs the watches until `ready` returns true.
  bool Until(const std::function<bool()>& ready) {
    for (int i = 0; i < 400 && !ready(); ++i) {
      context_.restart();
      context_.run_for(std::chrono::milliseconds(5));
    }
    return ready();
  }
  meta::Result<ObjectPtr> Get(const std::string& name, Read read) {
    return testing::RunTask(context_, objects_->Get({}, kConfigMaps, "ns", name, read));
  }
  std::vector<std::string> List(const std::string& ns, const std::string& labels, Read read = Read::kCached) {
    std::vector<std::string> names;
    const auto listed =
        testing::RunTask(context_, objects_->List({}, kConfigMaps, ns, *meta::LabelSelector::Parse(labels), read));
    if (!listed) return {listed.error().Message()};
    for (const ObjectPtr& object : *listed) names.emplace_back(object->Name());
    return names;
  }

  endpoint::TestServer server_;
  std::shared_ptr<testing::FakeStore> store_;
  std::shared_ptr<PeerProcess> peer_;
  std::shared_ptr<ClusterObjects> objects_;
  boost::asio::io_context context_{1};  // last member: coroutines that it destroys refer to the others
};

TEST_P(ReadObjects, AnObjectByItsName) {
  Put("a", "web");
  for (const Read read : {Read::kCached, Read::kNewest, Read::kCachedElseNewest}) {
    const meta::Result<ObjectPtr> found = Get("a", read);
    ASSERT_TRUE(found) << found.error().Message();
    EXPECT_EQ((*found)->Name(), "a");
  }
}

TEST_P(ReadObjects, NotFound) {
  for (const Read read : {Read::kCached, Read::kNewest, Read::kCachedElseNewest}) {
    for (const char* name : {"missing", "", "..", "a/b"}) {
      const meta::Result<ObjectPtr> found = Get(name, read);
      ASSERT_FALSE(found);
      EXPECT_TRUE(found.error().Is(meta::Reason::kNotFound)) << name << ": " << found.error().Message();
    }
  }
}

TEST_P(ReadObjects, ANewObjectIsFoundByAFreshRead) {
  EXPECT_FALSE(Get("a", Read::kCached));
  Put("a", "web");
  EXPECT_TRUE(Get("a", Read::kNewest));
  EXPECT_TRUE(Get("a", Read::kCachedElseNewest));
}

TEST_P(ReadObjects, AnUpdateIsSeenByAFreshRead) {
  Put("a", "web");
  ASSERT_TRUE(Get("a", Read::kCached));
  Put("a", "db");
  EXPECT_EQ(*(*Get("a", Read::kNewest))->Label("app"), "db");
}

TEST_P(ReadObjects, ListsByNamespaceAndLabels) {
  Put("a", "web");
  Put("b", "db");
  for (const Read read : {Read::kCached, Read::kNewest}) {
    EXPECT_THAT(List("ns", "", read), ElementsAre("a", "b"));
    EXPECT_THAT(List("", "app=db", read), ElementsAre("b"));
    EXPECT_THAT(List("ns", "app=db", read), ElementsAre("b"));
    EXPECT_THAT(List("n", "", read), IsEmpty());
  }
}

TEST_P(ReadObjects, SubscribersSeeThePresentStateAndEveryChange) {
  Put("a", "web");
  std::vector<std::string> changes;
  const std::unique_ptr<Subscription> subscription = objects_->Subscribe(kConfigMaps, [&changes](const Change& change) {
    changes.push_back((change.type == Change::Type::kSet ? "set " : "removed ") + std::string(change.object->Name()));
  });
  ASSERT_TRUE(Until([&] { return subscription->Synced(); }));
  EXPECT_THAT(changes, ElementsAre("set a"));
  Put("b", "db");
  ASSERT_TRUE(Until([&] { return changes.size() == 2; }));
  Delete("a");
  ASSERT_TRUE(Until([&] { return changes.size() == 3; }));
  EXPECT_THAT(changes, ElementsAre("set a", "set b", "removed a"));

  std::vector<std::string> late;
  const std::unique_ptr<Subscription> second =
      objects_->Subscribe(kConfigMaps, [&late](const Change& change) { late.emplace_back(change.object->Name()); });
  EXPECT_THAT(late, ElementsAre("b"));
}

TEST_P(ReadObjects, NothingIsReportedAfterTheEndOfASubscription) {
  int changes = 0;
  std::unique_ptr<Subscription> subscription =
      objects_->Subscribe(kConfigMaps, [&changes](const Change&) { ++changes; });
  ASSERT_TRUE(Until([&] { return subscription->Synced(); }));
  subscription.reset();
  Put("a", "web");
  const std::unique_ptr<Subscription> other = objects_->Subscribe(kConfigMaps, [](const Change&) {});
  Until([&] { return !testing::RunTask(context_, objects_->List({}, kConfigMaps, "", {}, Read::kCached))->empty(); });
  EXPECT_EQ(changes, 0);
}

TEST_P(ReadObjects, AnUnchangedObjectIsParsedOnce) {
  Put("a", "web");
  ASSERT_TRUE(Get("a", Read::kCached));
  if (peer_) {
    ASSERT_TRUE(Until([&] { return Get("a", Read::kCached)->get() == Get("a", Read::kCached)->get(); }));
  }
  EXPECT_EQ(Get("a", Read::kCached)->get(), Get("a", Read::kCached)->get());
}

INSTANTIATE_TEST_SUITE_P(Sources, ReadObjects, ::testing::Values(Where::kThisProcess, Where::kAnotherProcess),
                         [](const auto& info) {
                           return info.param == Where::kThisProcess ? "FromTheStore" : "OverTheMesh";
                         });

class OverTheMesh : public ReadObjects {};

TEST_P(OverTheMesh, CachedReadsSendNoRequests) {
  Put("a", "web");
  ASSERT_TRUE(Get("a", Read::kCached));
  ASSERT_TRUE(Until([&] { return List("ns", "").size() == 1; }));
  const std::unique_ptr<Subscription> subscription = objects_->Subscribe(kConfigMaps, [](const Change&) {});
  ASSERT_TRUE(Until([&] { return subscription->Synced(); }));
  const int before = peer_->calls;
  EXPECT_TRUE(Get("a", Read::kCached));
  EXPECT_FALSE(Get("b", Read::kCached));
  EXPECT_THAT(List("ns", ""), ElementsAre("a"));
  EXPECT_EQ(peer_->calls, before);
}

TEST_P(OverTheMesh, AResourceThatNobodyServesIsEmpty) {
  const meta::Gvr unknown{"example.com", "v1", "widgets"};
  const std::unique_ptr<Subscription> subscription = objects_->Subscribe(unknown, [](const Change&) {});
  ASSERT_TRUE(Until([&] { return subscription->Synced(); }));
  EXPECT_TRUE(testing::RunTask(context_, objects_->Get({}, unknown, "ns", "a", Read::kCached))
                  .error()
                  .Is(meta::Reason::kNotFound));
}
INSTANTIATE_TEST_SUITE_P(Sources, OverTheMesh, ::testing::Values(Where::kAnotherProcess));

TEST(ClusterObjects, AnErrorIfAResourceCannotBeReadAtAll) {
  ClusterObjects objects({.clock = testing::SystemClock()});
  EXPECT_EQ(testing::RunTask(objects.Get({}, kConfigMaps, "ns", "a", Read::kCached)).error().Message(),
            "configmaps cannot be read here");
  EXPECT_FALSE(objects.Subscribe(kConfigMaps, [](const Change&) {})->Synced());
}

TEST(PathOf, NamesCollectionsAndObjects) {
  const meta::Gvr deployments{"apps", "v1", "deployments"};
  EXPECT_EQ(PathOf(deployments, "", ""), "/apis/apps/v1/deployments");
  EXPECT_EQ(PathOf(deployments, "ns", ""), "/apis/apps/v1/namespaces/ns/deployments");
  EXPECT_EQ(PathOf(deployments, "ns", "a"), "/apis/apps/v1/namespaces/ns/deployments/a");
  EXPECT_EQ(PathOf({"", "v1", "nodes"}, "", "a"), "/api/v1/nodes/a");
}

}  // namespace
}  // namespace apimesh::admission
