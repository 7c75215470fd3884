#include <set>

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "lib/admission/objects/object_table.h"
#include "lib/admission/objects/source.h"
#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/storage/follower.h"

namespace apimesh::admission {
namespace {

constexpr std::size_t kMaxDocuments = 1024;

meta::Result<ObjectPtr> Parse(const storage::Entry& entry) {
  ASSIGN_OR_RETURN(meta::json::value document, codec::ParseJson(entry.JsonText(), meta::NewArena()));
  if (!document.is_object()) return meta::InternalError(fmt::format("{} is not an object", entry.GetKey().text));
  return std::make_shared<const meta::Object>(std::move(document.get_object()));
}

/// Caches the parsed documents of entries that were read recently, because plugins read the same few objects
/// (namespaces, quotas) for many requests. Thread-safe.
class Documents {
 public:
  meta::Result<ObjectPtr> Of(const storage::Entry& entry) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = documents_.find(entry.GetKey());
      if (found != documents_.end() && found->second.revision == entry.ModRevision()) return found->second.object;
    }
    ASSIGN_OR_RETURN(ObjectPtr object, Parse(entry));
    const std::lock_guard lock(mutex_);
    if (documents_.size() >= kMaxDocuments) documents_.clear();  // rare; the next reads add them again
    documents_[entry.GetKey()] = {entry.ModRevision(), object};
    return object;
  }

 private:
  struct Document {
    storage::Revision revision;
    ObjectPtr object;
  };
  std::mutex mutex_;
  std::map<storage::Key, Document> documents_;  // guarded by mutex_
};

/// Keeps an ObjectTable in sync with a store, for subscribers. Used by one coroutine.
class StoreFeed {
 public:
  explicit StoreFeed(std::string name) : name_(std::move(name)) {}

  const std::shared_ptr<ObjectTable>& Table() const { return table_; }

  void Restart() {
    seen_.clear();
    initial_ = true;
  }

  Task<> Apply(std::vector<storage::Event> events) {
    for (const storage::Event& event : events) {
      Apply(event);
      if (!initial_ || !event.initial_events_end) continue;
      initial_ = false;
      for (const auto& [ns, name] : table_->Names()) {
        if (!seen_.contains({ns, name})) table_->Remove(ns, name);
      }
      table_->MarkSynced();
    }
    co_return;
  }

 private:
  void Apply(const storage::Event& event) {
    if (!event.object) return;
    const meta::Result<ObjectPtr> object = Parse(*event.object);
    if (!object) {
      log::Warning("following {} for admission: {}", name_, object.error().Message());
      return;
    }
    ObjectTable::Name name{std::string((*object)->Namespace()), std::string((*object)->Name())};
    if (event.type == storage::Event::Type::kDeleted) {
      table_->Remove(name.first, name.second);
      seen_.erase(name);
      return;
    }
    table_->Set(*object);
    if (initial_) seen_.insert(std::move(name));
  }

  const std::string name_;
  const std::shared_ptr<ObjectTable> table_ = std::make_shared<ObjectTable>();
  std::set<ObjectTable::Name> seen_;  // objects of the current state
  bool initial_ = true;               // the current state has not been delivered completely
};

class StoreSource final : public Source {
 public:
  StoreSource(meta::Gvr resource, storage::StorePtr store, boost::asio::any_io_executor executor)
      : resource_(std::move(resource)), store_(std::move(store)), executor_(std::move(executor)) {}

  Task<meta::Result<ObjectPtr>> Get(meta::RequestContext ctx, std::string ns, std::string name, Read read) override {
    const meta::Result<storage::Key> key = storage::KeyFor(!ns.empty(), ns, name);
    if (!key) co_return meta::NotFound(resource_.GroupResource(), name);
    // The options are named variables, because GCC 12 destroys an aggregate that is created inside a co_await
    // expression twice.
    const storage::GetOptions cached{.resource_version = "0"};
    const storage::GetOptions newest;
    // A look-up in the cache is no step of the request's trace, as those of informers in kube-apiserver.
    const meta::RequestContext first = read == Read::kNewest ? ctx : ctx.Within(nullptr);
    meta::Result<storage::EntryPtr> entry = co_await store_->Get(first, *key, read == Read::kNewest ? newest : cached);
    if (!entry && entry.error().Is(meta::Reason::kNotFound) && read == Read::kCachedElseNewest)
      entry = co_await store_->Get(ctx, *key, newest);
    if (!entry) co_return entry.error();
    co_return documents_.Of(**entry);
  }

  Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext ctx, std::string ns, meta::LabelSelector labels,
                                                  Read read) override {
    storage::ListOptions options;
    options.ns = std::move(ns);
    options.labels = std::move(labels);
    if (read != Read::kNewest) {
      options.resource_version = "0";
      ctx = ctx.Within(nullptr);
    }
    ASSIGN_OR_CO_RETURN(const std::unique_ptr<storage::ListCursor> cursor,
                        co_await store_->List(std::move(ctx), std::move(options)));
    std::vector<ObjectPtr> objects;
    for (;;) {
      const std::vector<storage::EntryPtr> entries = cursor->Next(500);
      if (entries.empty()) co_return objects;
      for (const storage::EntryPtr& entry : entries) {
        ASSIGN_OR_CO_RETURN(ObjectPtr object, documents_.Of(*entry));
        objects.push_back(std::move(object));
      }
    }
  }

  std::unique_ptr<Subscription> Subscribe(std::function<void(const Change&)> changed) override {
    return Feed()->Table()->Subscribe(std::move(changed));
  }

  void Stop() override {
    const std::lock_guard lock(mutex_);
    if (follower_) follower_->Stop();
  }

 private:
  std::shared_ptr<StoreFeed> Feed() {
    const std::lock_guard lock(mutex_);
    if (feed_) return feed_;
    const std::string name = resource_.GroupResource().ToString();
    feed_ = std::make_shared<StoreFeed>(name);
    follower_ = std::make_shared<storage::Follower>(name + " for admission", store_);
    const auto opened = [feed = feed_] { feed->Restart(); };
    const auto events = [feed = feed_](std::vector<storage::Event> some) { return feed->Apply(std::move(some)); };
    const auto ended = [](std::exception_ptr error) {
      if (error) log::Error("a subscription of admission ended by an exception");
    };
    boost::asio::co_spawn(executor_, storage::Follower::Run(follower_, {opened, events}), ended);
    return feed_;
  }

  const meta::Gvr resource_;
  const storage::StorePtr store_;
  const boost::asio::any_io_executor executor_;
  Documents documents_;
  std::mutex mutex_;
  std::shared_ptr<StoreFeed> feed_;              // guarded by mutex_; nullptr if there was no subscription yet
  std::shared_ptr<storage::Follower> follower_;  // guarded by mutex_; set together with feed_
};

}  // namespace

SourcePtr NewStoreSource(meta::Gvr resource, storage::StorePtr store, boost::asio::any_io_executor executor) {
  return std::make_shared<StoreSource>(std::move(resource), std::move(store), std::move(executor));
}

}  // namespace apimesh::admission
