#include "services/extensions-api/controller/crd_controller.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>

#include "lib/base/log.h"
#include "lib/base/wakeup.h"
#include "lib/codec/codec.h"
#include "services/extensions-api/controller/catalog.h"
#include "services/extensions-api/controller/cleanup.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/crd_store.h"

namespace apimesh::extensions_api {
namespace asio = boost::asio;
namespace json = meta::json;

namespace {

constexpr Duration kRetryPause = std::chrono::seconds(1);

std::optional<meta::Object> Parsed(const storage::Entry& entry) {
  meta::Result<json::value> value = codec::ParseJson(entry.Json().View(), meta::NewArena());
  if (!value || !value->is_object()) return std::nullopt;
  return meta::Object(std::move(value->get_object()));
}

void Forget(std::exception_ptr) {}

}  // namespace

/// Lives on a strand; its loops hold it.
struct CrdController::State : std::enable_shared_from_this<State> {
  explicit State(Parts all) : parts(std::move(all)), strand(asio::make_strand(parts.executor)), catalog(parts.sources) {}

  Task<> Run(std::shared_ptr<State> self);
  Task<> Follow(std::shared_ptr<State> self, std::shared_ptr<storage::Watcher> events);
  Task<> Reconcile(std::shared_ptr<State> self);
  Task<> Settle(std::shared_ptr<State> self, std::string name);
  Task<> End(std::shared_ptr<State> self, std::string name, std::string uid);
  void Take(const storage::Event& event);
  /// Works out the status of a definition and serves it. True: the status must be written.
  bool Consider(const std::string& name);

  const Parts parts;
  asio::strand<asio::any_io_executor> strand;
  Catalog catalog;
  std::map<std::string, storage::EntryPtr> entries;  // the newest state of each; the bytes are the cache's
  std::set<std::string> changed;                     // since the last Reconcile()
  std::set<std::string> cleaning;                    // uids
  bool serving_changed = false;
  std::atomic<bool> synced = false;
  std::mutex mutex;
  bool stopped = false;                         // guarded by mutex
  std::shared_ptr<storage::Watcher> watcher;  // guarded by mutex
};

void CrdController::State::Take(const storage::Event& event) {
  if (!event.object) return;
  const std::string& name = event.object->GetKey().text;
  changed.insert(name);
  if (event.type == storage::Event::Type::kDeleted) {
    entries.erase(name);
  } else {
    entries[name] = event.object;
  }
}

bool CrdController::State::Consider(const std::string& name) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    serving_changed |= catalog.Remove(name);
    return false;
  }
  std::optional<meta::Object> crd = Parsed(*found->second);
  if (!crd) return false;
  const std::string group(meta::FindString(crd->Root(), "spec", "group"));
  const bool deleting = !crd->DeletionTimestamp().empty();
  const bool write = !deleting && UpdateStatus(*crd, catalog.TakenBy(group, name), Clock::System().Now());
  serving_changed |= catalog.Put(*crd);
  if (deleting && HasCleanupFinalizer(*crd) && cleaning.insert(std::string(crd->Uid())).second) {
    asio::co_spawn(strand, End(shared_from_this(), name, std::string(crd->Uid())), &Forget);
  }
  return write;
}

Task<> CrdController::State::Reconcile(std::shared_ptr<State> self) {
  std::set<std::string> names = std::exchange(changed, {});
  // Who lacks a name may get it now.
  for (const std::string& name : std::set<std::string>(names)) {
    const std::size_t dot = name.find('.');
    const std::string group = dot == std::string::npos ? "" : name.substr(dot + 1);
    for (std::string& other : catalog.Conflicted(group, name)) names.insert(std::move(other));
  }
  std::vector<std::string> writes;
  for (const std::string& name : names) {
    if (Consider(name)) writes.push_back(name);
  }
  if (serving_changed || !synced) {
    std::vector<endpoint::ServedVersion> versions = parts.own;
    for (endpoint::ServedVersion& version : catalog.Served()) versions.push_back(std::move(version));
    parts.server->Replace(std::move(versions));
    serving_changed = false;
    synced = true;
  }
  for (std::string& name : writes) co_await Settle(self, std::move(name));
}

/// The resource is served by now: its status may say so.
Task<> CrdController::State::Settle(std::shared_ptr<State> /*keeps this alive*/, std::string name) {
  const auto found = entries.find(name);
  if (found == entries.end()) co_return;
  const std::optional<meta::Object> crd = Parsed(*found->second);
  if (!crd) co_return;
  const TakenNames taken = catalog.TakenBy(std::string(meta::FindString(crd->Root(), "spec", "group")), name);
  const CrdChange change = [taken](meta::Object& object) {
    return object.DeletionTimestamp().empty() && UpdateStatus(object, taken, Clock::System().Now());
  };
  const meta::Result<> written = co_await ChangeCrd(parts.crds, name, std::string(crd->Uid()), change);
  if (!written) log::Warning("status of {}: {}", name, written.error().Message());
}

Task<> CrdController::State::End(std::shared_ptr<State> /*keeps this alive*/, std::string name, std::string uid) {
  for (;;) {
    const Cleanup cleanup{parts.crds, name, uid, catalog.StorageOf(name), parts.environment};
    const meta::Result<> done = co_await CleanUp(cleanup);
    if (done) break;
    log::Warning("deleting the objects of {}: {}", name, done.error().Message());
    co_await SleepUntil(Clock::System().Steady() + kRetryPause);
    const std::lock_guard lock(mutex);
    if (stopped) break;
  }
  cleaning.erase(uid);
}

Task<> CrdController::State::Follow(std::shared_ptr<State> self, std::shared_ptr<storage::Watcher> events) {
  const std::set<std::string> before = catalog.Names();
  entries.clear();
  bool complete = false;
  for (;;) {
    const std::vector<storage::Event> some = co_await events->Next();
    if (some.empty()) co_return;
    for (const storage::Event& event : some) {
      if (event.type == storage::Event::Type::kError) co_return;
      Take(event);
      if (event.initial_events_end) {
        complete = true;
        changed.insert(before.begin(), before.end());  // those that went while nobody watched
      }
    }
    if (complete) co_await Reconcile(self);
  }
}

Task<> CrdController::State::Run(std::shared_ptr<State> self) {
  for (;;) {
    const meta::RequestContext ctx;
    storage::WatchOptions options;
    options.match = storage::VersionMatch::kNotOlderThan;
    options.send_initial_events = true;
    options.allow_bookmarks = true;
    meta::Result<std::unique_ptr<storage::Watcher>> opened = co_await parts.crds->Watch(ctx, options);
    std::shared_ptr<storage::Watcher> events = opened ? std::move(*opened) : nullptr;
    {
      const std::lock_guard lock(mutex);
      if (stopped) co_return;
      watcher = events;
    }
    if (events) co_await Follow(self, events);
    {
      const std::lock_guard lock(mutex);
      if (stopped) co_return;
    }
    if (!events) co_await SleepUntil(Clock::System().Steady() + kRetryPause);
  }
}

CrdController::CrdController(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {}
CrdController::~CrdController() { Stop(); }

void CrdController::Start() { asio::co_spawn(state_->strand, state_->Run(state_), &Forget); }

void CrdController::Stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  if (state_->watcher) state_->watcher->Stop();
}

bool CrdController::Synced() const { return state_->synced; }

}  // namespace apimesh::extensions_api
