#include "lib/testing/fake_store.h"

#include <list>
#include <map>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "lib/testing/fake_entry.h"

namespace apimesh::testing {
namespace asio = boost::asio;
using storage::EntryPtr;
using storage::Event;
using storage::Key;
using storage::Revision;

struct FakeStore::State {
  storage::ResourceConfig config;
  Revision revision = 1;
  std::map<Key, FakeEntryPtr> objects;
  struct Change {
    Event::Type type;
    FakeEntryPtr now;
    FakeEntryPtr before;
  };
  std::vector<Change> log;
  std::list<asio::steady_timer*> waiting;
  std::function<void()> before_swap;
  struct Failure {
    meta::ApiError error;
    bool stored = false;
  };
  std::optional<Failure> failure;

  void RaceWithOthers() {
    if (before_swap) std::exchange(before_swap, nullptr)();
  }
  /// Stores an object, or fails if the test requested a failure.
  meta::Result<FakeEntryPtr> Write(const Key& key, const meta::Object& object, FakeEntryPtr before) {
    const std::optional<Failure> failed = std::exchange(failure, std::nullopt);
    if (failed && !failed->stored) return failed->error;
    FakeEntryPtr entry = Store(key, object, std::move(before));
    if (failed) return failed->error;
    return entry;
  }
  void Wake() {
    for (asio::steady_timer* timer : waiting) timer->cancel();
  }
  FakeEntryPtr Store(const Key& key, const meta::Object& object, FakeEntryPtr before) {
    auto entry = std::make_shared<FakeEntry>(key, object, ++revision, config);
    objects[key] = entry;
    log.push_back({before ? Event::Type::kModified : Event::Type::kAdded, entry, before});
    Wake();
    return entry;
  }
  FakeEntryPtr Remove(const Key& key, FakeEntryPtr before) {
    auto last = std::make_shared<FakeEntry>(key, before->Parsed(), ++revision, config);
    objects.erase(key);
    log.push_back({Event::Type::kDeleted, last, before});
    Wake();
    return last;
  }
  FakeEntryPtr Find(const Key& key) const {
    const auto it = objects.find(key);
    return it == objects.end() ? nullptr : it->second;
  }
  meta::ApiError NotFound(const Key& key) const {
    return meta::NotFound(config.resource, key.text.substr(key.text.find('/') + 1));
  }
  std::string NameOf(const Key& key) const { return key.text.substr(key.text.find('/') + 1); }
};

namespace {

bool InNamespace(const Key& key, const std::string& ns) { return ns.empty() || key.text.rfind(ns + "/", 0) == 0; }

bool Selected(const storage::Entry& entry, const std::string& ns, const meta::LabelSelector& labels,
              const meta::FieldSelector& fields) {
  const auto lookup = [&entry](std::string_view field) { return entry.FieldValue(field); };
  return InNamespace(entry.GetKey(), ns) && labels.Matches(entry.GetLabels()) && fields.Matches(lookup);
}

class Cursor final : public storage::ListCursor {
 public:
  Revision at = 0;
  std::vector<EntryPtr> entries;
  std::string token;
  std::optional<std::int64_t> remaining;

  Revision At() const override { return at; }
  std::vector<EntryPtr> Next(std::size_t max) override {
    std::vector<EntryPtr> out;
    while (next_ < entries.size() && out.size() < max) out.push_back(entries[next_++]);
    return out;
  }
  std::string ContinueToken() const override { return token; }
  std::optional<std::int64_t> Remaining() const override { return remaining; }

 private:
  std::size_t next_ = 0;
};

class Watcher final : public storage::Watcher {
 public:
  std::shared_ptr<FakeStore::State> state;
  storage::WatchOptions options;
  std::size_t position = 0;
  std::vector<Event> first;
  bool bookmark_when_caught_up = false;

  Task<std::vector<Event>> Next() override {
    if (!first.empty()) co_return std::move(first);
    while (!stopped_) {
      std::vector<Event> events;
      for (; position < state->log.size(); ++position) Append(state->log[position], events);
      if (events.empty() && std::exchange(bookmark_when_caught_up, false)) {
        events.push_back({Event::Type::kBookmark, nullptr, state->revision, true, {}});
      }
      if (!events.empty()) co_return events;
      asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
      const auto place = state->waiting.insert(state->waiting.end(), &timer);
      timer_ = &timer;
      boost::system::error_code ignored;
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      timer_ = nullptr;
      state->waiting.erase(place);
    }
    co_return std::vector<Event>();
  }
  void Stop() override {
    stopped_ = true;
    if (timer_) timer_->cancel();
  }

 private:
  /// Appends the event for this watcher. An object that starts to match the selector is added, one that no longer
  /// matches is deleted.
  void Append(const FakeStore::State::Change& change, std::vector<Event>& events) const {
    const auto selected = [this](const FakeEntryPtr& entry) {
      return entry && Selected(*entry, options.ns, options.labels, options.fields);
    };
    const bool now = change.type != Event::Type::kDeleted && selected(change.now);
    const bool before = selected(change.before);
    if (!now && !before) return;
    Event event;
    event.type = now ? (before ? Event::Type::kModified : Event::Type::kAdded) : Event::Type::kDeleted;
    event.object = change.now;
    event.revision = change.now->ModRevision();
    events.push_back(std::move(event));
  }

  bool stopped_ = false;
  asio::steady_timer* timer_ = nullptr;
};

meta::Result<> Check(const FakeStore::State& state, const Key& key, const storage::Preconditions& preconditions,
                     const meta::Object& object) {
  const auto conflict = [&](std::string_view what, std::string_view wanted, std::string_view found) {
    return meta::Conflict(
        state.config.resource, state.NameOf(key),
        fmt::format("Precondition failed: {} in precondition: {}, {} in object meta: {}", what, wanted, what, found));
  };
  if (preconditions.uid && *preconditions.uid != object.Uid()) return conflict("UID", *preconditions.uid, object.Uid());
  if (preconditions.resource_version && *preconditions.resource_version != object.ResourceVersion()) {
    return conflict("ResourceVersion", *preconditions.resource_version, object.ResourceVersion());
  }
  return {};
}

}  // namespace

FakeStore::FakeStore(storage::ResourceConfig config) : state_(std::make_shared<State>()) {
  state_->config = std::move(config);
}
FakeStore::~FakeStore() = default;

Task<meta::Result<EntryPtr>> FakeStore::Get(meta::RequestContext, Key key, storage::GetOptions) {
  const FakeEntryPtr entry = state_->Find(key);
  if (!entry) co_return state_->NotFound(key);
  co_return EntryPtr(entry);
}

Task<meta::Result<std::unique_ptr<storage::ListCursor>>> FakeStore::List(meta::RequestContext,
                                                                         storage::ListOptions options) {
  auto cursor = std::make_unique<Cursor>();
  cursor->at = state_->revision;
  std::int64_t left = 0;
  for (const auto& [key, entry] : state_->objects) {
    if (key.text <= options.continue_token || !Selected(*entry, options.ns, options.labels, options.fields)) continue;
    if (options.limit > 0 && cursor->entries.size() == static_cast<std::size_t>(options.limit)) {
      ++left;
    } else {
      cursor->entries.push_back(entry);
    }
  }
  if (left > 0) {
    cursor->token = cursor->entries.back()->GetKey().text;
    if (options.labels.Empty() && options.fields.Empty()) cursor->remaining = left;
  }
  co_return std::unique_ptr<storage::ListCursor>(std::move(cursor));
}

Task<meta::Result<std::unique_ptr<storage::Watcher>>> FakeStore::Watch(meta::RequestContext,
                                                                       storage::WatchOptions options) {
  auto watcher = std::make_unique<Watcher>();
  watcher->state = state_;
  watcher->position = state_->log.size();
  const bool from_now = options.resource_version.empty() || options.resource_version == "0";
  const bool initial = options.send_initial_events.value_or(from_now);
  watcher->bookmark_when_caught_up = !initial && options.mark_initial_events_end;
  if (initial) {
    for (const auto& [key, entry] : state_->objects) {
      if (!Selected(*entry, options.ns, options.labels, options.fields)) continue;
      watcher->first.push_back({Event::Type::kAdded, entry, entry->ModRevision(), false, {}});
    }
    if (options.mark_initial_events_end || (options.send_initial_events.value_or(false) && options.allow_bookmarks)) {
      watcher->first.push_back({Event::Type::kBookmark, nullptr, state_->revision, true, {}});
    }
  } else if (!from_now) {
    const meta::Result<Revision> after = storage::ParseResourceVersion(options.resource_version);
    if (!after) co_return after.error();
    while (watcher->position > 0 && state_->log[watcher->position - 1].now->ModRevision() > *after) --watcher->position;
  }
  watcher->options = std::move(options);
  co_return std::unique_ptr<storage::Watcher>(std::move(watcher));
}

Task<meta::Result<EntryPtr>> FakeStore::Create(meta::RequestContext, Key key, meta::Object object,
                                               std::chrono::seconds) {
  state_->RaceWithOthers();
  if (state_->Find(key)) co_return meta::AlreadyExists(state_->config.resource, state_->NameOf(key));
  ASSIGN_OR_CO_RETURN(FakeEntryPtr entry, state_->Write(key, object, nullptr));
  co_return EntryPtr(std::move(entry));
}

Task<meta::Result<storage::Store::UpdateResult>> FakeStore::GuaranteedUpdate(meta::RequestContext, Key key,
                                                                             storage::Preconditions preconditions,
                                                                             bool create_if_missing, UpdateFn update) {
  while (true) {
    const FakeEntryPtr current = state_->Find(key);
    if (!current && !create_if_missing) co_return state_->NotFound(key);
    const meta::Object none;
    if (current || preconditions.uid)
      CO_RETURN_IF_ERROR(Check(*state_, key, preconditions, current ? current->Parsed() : none));
    ASSIGN_OR_CO_RETURN(std::optional<Update> wanted, co_await update(current ? &current->Parsed() : nullptr));
    if (!wanted) co_return UpdateResult{current, false};
    state_->RaceWithOthers();
    if (state_->Find(key) != current) continue;
    if (current && WithRevision(wanted->object, current->ModRevision()).Root() == current->Parsed().Root()) {
      co_return UpdateResult{current, false};
    }
    ASSIGN_OR_CO_RETURN(FakeEntryPtr entry, state_->Write(key, wanted->object, current));
    co_return UpdateResult{std::move(entry), current == nullptr};
  }
}

Task<meta::Result<>> FakeStore::DeleteUnreadable(meta::RequestContext, Key) {
  co_return meta::BadRequest("all objects of this store can be read");
}

Task<meta::Result<EntryPtr>> FakeStore::Delete(meta::RequestContext, Key key, storage::Preconditions preconditions,
                                               ValidateFn validate) {
  while (true) {
    const FakeEntryPtr current = state_->Find(key);
    if (!current) co_return state_->NotFound(key);
    CO_RETURN_IF_ERROR(Check(*state_, key, preconditions, current->Parsed()));
    CO_RETURN_IF_ERROR(co_await validate(current->Parsed()));
    state_->RaceWithOthers();
    if (state_->Find(key) != current) continue;
    co_return EntryPtr(state_->Remove(key, current));
  }
}

Task<meta::Result<std::int64_t>> FakeStore::Count(meta::RequestContext) {
  co_return static_cast<std::int64_t>(state_->objects.size());
}

void FakeStore::BeforeNextSwap(std::function<void()> callback) { state_->before_swap = std::move(callback); }

void FakeStore::FailNextWrite(meta::ApiError error, bool stored) {
  state_->failure = State::Failure{std::move(error), stored};
}

EntryPtr FakeStore::Put(Key key, meta::Object object) {
  const FakeEntryPtr before = state_->Find(key);
  return state_->Store(key, object, before);
}

}  // namespace apimesh::testing
