#include "services/extensions-api/controller/crd_controller.h"

#include <atomic>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/service/work_queue_metrics.h"
#include "lib/storage/follower.h"
#include "services/extensions-api/controller/catalog.h"
#include "services/extensions-api/controller/cleanup.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/crd_store.h"
#include "services/extensions-api/crd/names.h"

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

/// Used on a strand only; its loops keep it alive.
struct CrdController::State : std::enable_shared_from_this<State> {
  explicit State(Parts all)
      : parts(std::move(all)),
        clock(*parts.environment->sources.clock),
        strand(asio::make_strand(parts.executor)),
        catalog(parts.sources) {
    if (parts.sources.metrics) queue.emplace("crd_naming_condition_controller", *parts.sources.metrics, clock);
  }

  /// A new watch begins with the current state.
  void Restart();
  Task<> TakeAll(std::shared_ptr<State> self, std::vector<storage::Event> events);
  Task<> Reconcile(std::shared_ptr<State> self);
  Task<> WriteStatus(std::shared_ptr<State> self, std::string name);
  Task<> End(std::shared_ptr<State> self, std::string name, std::string uid);
  /// Makes a definition Established after the delay.
  Task<> EstablishLater(std::shared_ptr<State> self, std::string name);
  void Take(const storage::Event& event);
  /// Computes the status of a definition and updates the served resources. Returns true if the status must be written.
  bool UpdateServing(const std::string& name);

  const Parts parts;
  const Clock& clock;
  asio::strand<asio::any_io_executor> strand;
  Catalog catalog;
  std::optional<service::WorkQueueMetrics> queue;  // of `changed`; nullopt: not measured
  // The newest state of each definition; the bytes belong to the cache.
  std::map<std::string, storage::EntryPtr> entries;
  std::set<std::string> changed;     // since the last Reconcile()
  std::set<std::string> cleaning;    // uids
  std::set<std::string> installing;  // names of definitions for which EstablishLater() runs
  bool serving_changed = false;
  std::atomic<bool> synced = false;
  bool complete = false;       // the current state has arrived
  std::set<std::string> lost;  // definitions before the current watch
  const std::shared_ptr<storage::Follower> follower =
      std::make_shared<storage::Follower>("the definitions", parts.crds);
};

void CrdController::State::Take(const storage::Event& event) {
  if (!event.object) return;
  const std::string& name = event.object->GetKey().text;
  changed.insert(name);
  if (queue) queue->Add(name);
  if (event.type == storage::Event::Type::kDeleted) {
    entries.erase(name);
  } else {
    entries[name] = event.object;
  }
}

bool CrdController::State::UpdateServing(const std::string& name) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    serving_changed |= catalog.Remove(name);
    return false;
  }
  std::optional<meta::Object> crd = Parsed(*found->second);
  if (!crd) return false;
  const std::string group(meta::FindString(crd->Root(), "spec", "group"));
  const bool deleting = !crd->DeletionTimestamp().empty();
  const bool write =
      !deleting && UpdateStatus(*crd, catalog.NamesTakenByOthers(group, name), clock.Now(), parts.establish_delay);
  if (!deleting && IsInstalling(*crd) && installing.insert(name).second) {
    asio::co_spawn(strand, EstablishLater(shared_from_this(), name), &Forget);
  }
  serving_changed |= catalog.Put(*crd);
  if (deleting && HasCleanupFinalizer(*crd) && cleaning.insert(std::string(crd->Uid())).second) {
    asio::co_spawn(strand, End(shared_from_this(), name, std::string(crd->Uid())), &Forget);
  }
  return write;
}

Task<> CrdController::State::Reconcile(std::shared_ptr<State> self) {
  std::set<std::string> names = std::exchange(changed, {});
  // Definitions that lack a name may get it now.
  for (const std::string& name : std::set<std::string>(names)) {
    const std::size_t dot = name.find('.');
    const std::string group = dot == std::string::npos ? "" : name.substr(dot + 1);
    for (std::string& other : catalog.DefinitionsLackingNames(group, name)) names.insert(std::move(other));
  }
  std::vector<std::string> writes;
  for (const std::string& name : names) {
    if (queue) queue->Begin(name);
    if (UpdateServing(name)) {
      writes.push_back(name);
    } else if (queue) {
      queue->Finish(name);
    }
  }
  parts.unresolvable->Replace(catalog.Unresolvable());
  for (const std::string& name : names) {
    if (std::optional<ServedDefinition> definition = catalog.Describe(name)) {
      parts.served->Put(name, std::move(*definition));
    } else {
      parts.served->Remove(name);
    }
  }
  if (serving_changed || !synced) {
    std::vector<endpoint::ServedVersion> versions = parts.own;
    for (endpoint::ServedVersion& version : catalog.Served()) {
      version.openapi_v3_hash += parts.openapi_digest;
      versions.push_back(std::move(version));
    }
    parts.server->Replace(std::move(versions));
    serving_changed = false;
    synced = true;
  }
  for (const std::string& name : names) parts.served->Wake(name);
  for (const std::string& name : writes) {
    co_await WriteStatus(self, name);
    if (queue) queue->Finish(name);
  }
}

/// Writes the status. The resource is already served, so its status may report it as established.
Task<> CrdController::State::WriteStatus(std::shared_ptr<State> /*keeps this alive*/, std::string name) {
  const auto found = entries.find(name);
  if (found == entries.end()) co_return;
  const std::optional<meta::Object> crd = Parsed(*found->second);
  if (!crd) co_return;
  const std::string group(meta::FindString(crd->Root(), "spec", "group"));
  const TakenNames taken = catalog.NamesTakenByOthers(group, name);
  const CrdChange change = [taken, this](meta::Object& object) {
    return object.DeletionTimestamp().empty() && UpdateStatus(object, taken, clock.Now(), parts.establish_delay);
  };
  const meta::Result<> written = co_await ChangeCrd(parts.crds, name, std::string(crd->Uid()), change);
  if (!written) log::Warning("the status of {} could not be written: {}", name, written.error().Message());
}

Task<> CrdController::State::EstablishLater(std::shared_ptr<State> self, std::string name) {
  // The time of a condition has a resolution of one second.
  co_await SleepFor(parts.establish_delay + std::chrono::seconds(1));
  installing.erase(name);
  if (follower->Stopped()) co_return;
  changed.insert(std::move(name));
  co_await Reconcile(self);
}

Task<> CrdController::State::End(std::shared_ptr<State> /*keeps this alive*/, std::string name, std::string uid) {
  for (;;) {
    const Cleanup cleanup{parts.crds, name, uid, catalog.StorageOf(name), parts.environment};
    const meta::Result<> done = co_await CleanUp(cleanup);
    if (done) break;
    log::Warning("the objects of {} could not be deleted: {}", name, done.error().Message());
    co_await SleepFor(kRetryPause);
    if (follower->Stopped()) break;
  }
  cleaning.erase(uid);
}

void CrdController::State::Restart() {
  lost = catalog.Names();
  entries.clear();
  complete = false;
}

Task<> CrdController::State::TakeAll(std::shared_ptr<State> self, std::vector<storage::Event> events) {
  for (const storage::Event& event : events) {
    Take(event);
    if (event.initial_events_end) {
      complete = true;
      changed.merge(lost);  // definitions that were deleted while there was no watch
    }
  }
  if (complete) co_await Reconcile(self);
}

CrdController::CrdController(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {}
CrdController::~CrdController() { Stop(); }

void CrdController::Start() {
  const auto opened = [state = state_] { state->Restart(); };
  const auto events = [state = state_](std::vector<storage::Event> some) {
    return state->TakeAll(state, std::move(some));
  };
  asio::co_spawn(state_->strand, storage::Follower::Run(state_->follower, {opened, events}), &Forget);
}

void CrdController::Stop() { state_->follower->Stop(); }

bool CrdController::Synced() const { return state_->synced; }

}  // namespace apimesh::extensions_api
