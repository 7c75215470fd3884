#include "services/aggregator/apiservices/controller.h"

#include <atomic>
#include <map>
#include <set>
#include <variant>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <fmt/format.h>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/mesh/api_client.h"
#include "lib/service/work_queue_metrics.h"
#include "lib/storage/follower.h"
#include "services/aggregator/apiservices/apiservice_resource.h"
#include "services/aggregator/apiservices/automatic.h"
#include "services/aggregator/apiservices/availability_metrics.h"
#include "services/aggregator/apiservices/download_schedule.h"
#include "services/aggregator/apiservices/server_options.h"

namespace apimesh::aggregator {
namespace asio = boost::asio;
namespace json = meta::json;

namespace {

constexpr const char* kPath = "/apis/apiregistration.k8s.io/v1/apiservices";
constexpr std::chrono::seconds kCheckUnavailable{1}, kCheckAvailable{5};
constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::seconds kRequestTimeout{10};

using Objects = std::map<std::string, meta::Object>;

/// The state of an APIService whose server is outside the mesh.
struct External {
  std::shared_ptr<Backend> server;
  std::variant<ExternalOptions, ExtensionOptions> options;  // from which `server` was made
  Registration registration;
  mesh::Description description;
  std::shared_ptr<const ResourceNames> shared_watches;
  bool available = false;
  bool checking = false;
  SteadyTime next_check{};
  std::shared_ptr<OpenApiCopy> openapi;
  std::uint64_t openapi_version = 0;
  DownloadSchedule download;
};

void Forget(std::exception_ptr) {}

}  // namespace

/// All state is used on one strand only, unless it is guarded by `mutex`. The coroutines keep it alive.
struct ApiServiceController::State : std::enable_shared_from_this<State> {
  explicit State(Parts all)
      : parts(std::move(all)),
        own(parts.own),
        strand(asio::make_strand(parts.executor)),
        metrics(parts.metrics),
        registrations("autoregister", parts.metrics, parts.clock),
        checks("remote_available_controller", parts.metrics, parts.clock),
        downloads("open_api_aggregation_controller", parts.metrics, parts.clock) {}

  Task<> TakeAll(std::vector<storage::Event> events);
  Task<> Work(std::shared_ptr<State> self);
  Task<> Register(std::shared_ptr<State> self);
  Task<> Check(std::shared_ptr<State> self, std::string name);
  Task<> Download(std::shared_ptr<State> self, std::string name);
  Task<> WriteStatus(std::shared_ptr<State> self, std::string name, std::string status, std::string reason,
                     std::string message);
  /// Sends a request to the server of APIServices.
  Task<meta::Result<meta::Object>> Send(std::string method, std::string path, const json::object& body) const;
  void FindExternals();
  void Publish();
  void Measure();
  /// Register() will look at the APIService.
  void Enqueue(const std::string& name) {
    unchecked.insert(name);
    registrations.Add(name);
  }
  void Wake() {
    const std::lock_guard lock(mutex);
    wakeup->Wake();
  }
  bool Stopped() const { return follower->Stopped(); }
  std::shared_ptr<Backend> MakeServer(const std::string& name, std::variant<ExternalOptions, ExtensionOptions> options,
                                      std::shared_ptr<OpenApiCopy> openapi);
  /// Checks the server, or requests its documents, if it is time.
  void StartWork(const std::string& name, External& external);

  const Parts parts;
  const mesh::ApiClient own;  // the server of APIServices in this process
  asio::strand<asio::any_io_executor> strand;
  AvailabilityMetrics metrics;
  service::WorkQueueMetrics registrations, checks, downloads;
  const std::shared_ptr<storage::Follower> follower =
      std::make_shared<storage::Follower>("the APIServices", parts.store);
  Objects objects;         // a copy of the store's content
  Objects fresh;           // the current state that a new watch delivers, until it is complete
  bool caught_up = false;  // the current watch has delivered the current state
  bool complete = false;   // `objects` is valid
  bool began = false;
  std::set<std::string> at_start;  // names that existed when this process started
  std::set<std::string> looked_after;
  std::optional<AutomaticApiServiceMap> desired;  // the automatic APIServices
  RoutesPtr desired_by;                           // the routes from which `desired` was computed
  std::set<std::string> unchecked;                // names that have changed since Register() looked at them
  std::map<std::string, External> externals;
  std::string published;  // key of the delegates that were last published
  std::atomic<bool> synced = false;
  std::atomic<bool> checks_externals = false;
  std::mutex mutex;
  std::shared_ptr<Wakeup> wakeup = Wakeup::New();  // guarded by mutex
};

std::shared_ptr<Backend> ApiServiceController::State::MakeServer(
    const std::string& name, std::variant<ExternalOptions, ExtensionOptions> options,
    std::shared_ptr<OpenApiCopy> openapi) {
  if (auto* const external = std::get_if<ExternalOptions>(&options)) {
    return std::make_shared<ExternalServer>(std::move(*external), parts.core_api, parts.endpoint_routing,
                                            std::move(openapi), parts.parser, parts.clock);
  }
  const auto changed = [weak = weak_from_this(), name, strand = strand] {
    asio::post(strand, [weak, name] {
      const auto self = weak.lock();
      if (!self) return;
      const auto found = self->externals.find(name);
      if (found == self->externals.end()) return;
      found->second.next_check = {};
      self->Wake();
    });
  };
  return std::make_shared<ExtensionServer>(std::move(std::get<ExtensionOptions>(options)), parts.extensions, changed);
}

void ApiServiceController::State::FindExternals() {
  std::erase_if(externals, [this](const auto& one) {
    const auto found = objects.find(one.first);
    return found == objects.end() || IsLocal(found->second);
  });
  for (const auto& [name, object] : objects) {
    if (IsLocal(object)) continue;
    External& external = externals[name];
    const Registration registration = RegistrationOf(object);
    std::variant<ExternalOptions, ExtensionOptions> options;
    if (IsExternal(object)) {
      ExternalOptions found = ExternalOptionsOf(object);
      found.cert_file = parts.proxy_cert_file;
      found.key_file = parts.proxy_key_file;
      found.reject_redirects = parts.reject_redirects;
      options = std::move(found);
    } else {
      options = ExtensionOptionsOf(object);
    }
    if (!external.server || external.options != options) {
      // The documents of the group-version stay until the changed server sends others.
      const std::shared_ptr<OpenApiCopy> openapi =
          external.openapi ? external.openapi : std::make_shared<OpenApiCopy>(registration.group, registration.version);
      external = External{.openapi = openapi, .openapi_version = openapi->Version()};
      external.options = options;
      external.server = MakeServer(name, std::move(options), openapi);
    }
    if (external.description.group_versions.empty() ||
        external.registration.group_priority_minimum != registration.group_priority_minimum ||
        external.registration.version_priority != registration.version_priority) {
      external.registration = registration;
      std::string known =
          external.description.group_versions.empty() ? "" : external.description.group_versions[0]->resource_list;
      std::string hash = external.description.group_versions.empty()
                             ? external.openapi->Hash()
                             : external.description.group_versions[0]->openapi_v3_hash;
      external.description = DescribeExternal(registration, std::move(known), std::move(hash));
    }
    StartWork(name, external);
  }
}

void ApiServiceController::State::StartWork(const std::string& name, External& external) {
  const SteadyTime now = parts.clock.Steady();
  if (!external.checking && external.next_check <= now) {
    external.checking = true;
    external.next_check = SteadyTime::max();
    checks.Add(name);
    asio::co_spawn(strand, Check(shared_from_this(), name), &Forget);
  }
  if (external.available && external.download.Due(now)) {
    external.download.Begin();
    downloads.Add(name);
    asio::co_spawn(strand, Download(shared_from_this(), name), &Forget);
  }
}

Task<> ApiServiceController::State::Download(std::shared_ptr<State> /*keeps this alive*/, std::string name) {
  const std::shared_ptr<Backend> server = externals.at(name).server;
  downloads.Begin(name);
  const std::string failure = co_await server->RefreshOpenApi();
  downloads.Finish(name);
  const auto found = externals.find(name);
  if (found == externals.end() || found->second.server != server) co_return;
  External& external = found->second;
  external.download.Finish(failure.empty(), parts.clock.Steady());
  if (!failure.empty()) log::Warning("OpenAPI of APIService {}: {}", name, failure);
  external.next_check = {};  // publishes what has changed
}

void ApiServiceController::State::Publish() {
  std::vector<Delegate> delegates;
  std::string key;
  for (const auto& [name, external] : externals) {
    delegates.push_back({name, external.server, external.description, external.available, external.server->Kind(),
                         external.shared_watches, external.openapi_version});
    const mesh::GroupVersionDescription& gv = *external.description.group_versions[0];
    key += fmt::format("{} {} {} {} {} {} {} {}\n", name, fmt::ptr(external.server.get()), external.description.etag,
                       external.available, gv.group_priority_minimum, gv.version_priority,
                       fmt::ptr(external.shared_watches.get()), external.openapi_version);
  }
  if (key == published) return;
  published = key;
  parts.routes->SetExternal(std::move(delegates));
}

void ApiServiceController::State::Measure() {
  std::map<std::string, bool> available;
  for (const auto& [name, object] : objects) {
    const auto external = externals.find(name);
    available[name] = external == externals.end() || external->second.available;
  }
  metrics.Set(std::move(available));
}

Task<> ApiServiceController::State::Check(std::shared_ptr<State> self, std::string name) {
  checks.Begin(name);
  const std::shared_ptr<Backend> server = externals.at(name).server;
  const SteadyTime begun = parts.clock.Steady();
  Backend::State checked = co_await server->Check();
  checks.Finish(name);
  const auto found = externals.find(name);
  if (found == externals.end() || found->second.server != server) co_return;  // deleted or changed meanwhile
  External& external = found->second;
  external.checking = false;
  const bool was_available = std::exchange(external.available, checked.status == "True");
  if (was_available && !external.available) metrics.Lost(name, checked.reason);
  if (!was_available && external.available) external.download.Restart();
  // If the server has changed during the check, it is checked again immediately.
  if (external.next_check == SteadyTime::max())
    external.next_check = begun + (external.available ? kCheckAvailable : kCheckUnavailable);
  external.shared_watches = std::move(checked.shared_watches);
  external.openapi_version = checked.openapi_version;
  external.description =
      DescribeExternal(external.registration, std::move(checked.resource_list), std::move(checked.openapi_hash));
  Publish();
  co_await WriteStatus(self, name, checked.status, checked.reason, checked.message);
}

Task<meta::Result<meta::Object>> ApiServiceController::State::Send(std::string method, std::string path,
                                                                   const json::object& body) const {
  mesh::ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = codec::WriteJson(body);
  request.deadline = parts.clock.Steady() + kRequestTimeout;
  return own.SendForObject(std::move(request));
}

Task<> ApiServiceController::State::WriteStatus(std::shared_ptr<State> /*keeps this alive*/, std::string name,
                                                std::string status, std::string reason, std::string message) {
  const auto found = objects.find(name);
  if (found == objects.end()) co_return;
  meta::Object object = found->second;
  if (!SetAvailable(object, status, reason, message, parts.clock.Now())) co_return;
  log::Info("APIService {} is {}available: {}", name, status == "True" ? "" : "not ", message);
  const std::string path = fmt::format("{}/{}/status", kPath, name);
  const meta::Result<meta::Object> written = co_await Send("PUT", path, object.Root());
  // The next check corrects a lost race.
  if (!written && !written.error().Is(meta::Reason::kConflict) && !written.error().Is(meta::Reason::kNotFound)) {
    log::Warning("status of APIService {}: {}", name, written.error().Message());
  }
}

Task<> ApiServiceController::State::Register(std::shared_ptr<State> /*keeps this alive*/) {
  if (const RoutesPtr routes = parts.routes->Current(); routes != desired_by) {
    std::optional<AutomaticApiServiceMap> next = AutomaticApiServices(*routes);
    if (next) {
      for (const std::string& name : ChangedNames(desired ? *desired : AutomaticApiServiceMap(), *next)) Enqueue(name);
    }
    desired = std::move(next);
    desired_by = routes;
  }
  if (!desired) co_return;
  const std::set<std::string> names = std::exchange(unchecked, {});
  std::set<std::string> failed;
  for (const std::string& name : names) {
    registrations.Begin(name);
    const auto wanted = desired->find(name);
    const auto current = objects.find(name);
    const std::optional<meta::Object> want =
        wanted == desired->end() ? std::nullopt : std::optional(MakeApiService(wanted->second));
    const meta::Object* have = current == objects.end() ? nullptr : &current->second;
    const Upkeep upkeep = Decide(want ? &*want : nullptr, have, at_start.contains(name), looked_after.contains(name));
    const std::string path = fmt::format("{}/{}", kPath, name);
    meta::Result<meta::Object> done = meta::Object();
    if (upkeep == Upkeep::kCreate) {
      done = co_await Send("POST", kPath, want->Root());
    } else if (upkeep == Upkeep::kUpdate) {
      meta::Object changed = *have;
      changed.Root()["spec"] = *meta::FindField(want->Root(), "spec");
      done = co_await Send("PUT", path, changed.Root());
    } else if (upkeep == Upkeep::kDelete) {
      const json::object options{{"preconditions", {{"uid", have->Uid()}}}};
      done = co_await Send("DELETE", path, options);
    }
    const bool raced = !done && (done.error().Is(meta::Reason::kAlreadyExists) ||
                                 done.error().Is(meta::Reason::kNotFound) || done.error().Is(meta::Reason::kConflict));
    registrations.Finish(name, !done && !raced);
    if (done || raced) {
      looked_after.insert(name);
    } else {
      failed.insert(name);
      log::Warning("APIService {}: {}", name, done.error().Message());
    }
  }
  if (failed.empty()) synced = true;
  unchecked.merge(failed);
}

Task<> ApiServiceController::State::Work(std::shared_ptr<State> self) {
  for (;;) {
    const std::shared_ptr<Wakeup> sleep = Wakeup::New();
    {
      const std::lock_guard lock(mutex);
      if (Stopped()) co_return;
      wakeup = sleep;
    }
    if (complete) {
      if (!began) {
        began = true;
        for (const auto& [name, object] : objects) at_start.insert(name);
      }
      co_await Register(self);
      FindExternals();
      Publish();
      checks_externals = true;
      Measure();
    }
    const bool idle = externals.empty() && synced && unchecked.empty();
    co_await Wakeup::Wait(sleep, idle ? SteadyTime::max() : parts.clock.Steady() + kTick);
  }
}

Task<> ApiServiceController::State::TakeAll(std::vector<storage::Event> events) {
  for (const storage::Event& event : events) {
    Objects& target = caught_up ? objects : fresh;
    if (event.object) Enqueue(event.object->GetKey().text);
    if (event.object && event.type == storage::Event::Type::kDeleted) {
      target.erase(event.object->GetKey().text);
    } else if (event.object) {
      meta::Result<json::value> value = codec::ParseJson(event.object->Json().View(), {});
      if (value && value->is_object())
        target[event.object->GetKey().text] = meta::Object(std::move(value->get_object()));
    }
    if (event.initial_events_end) {
      for (const auto& [name, object] : objects) Enqueue(name);  // some may have been deleted
      objects = std::exchange(fresh, {});
      caught_up = complete = true;
    }
  }
  if (caught_up) Wake();
  co_return;
}

ApiServiceController::ApiServiceController(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {}
ApiServiceController::~ApiServiceController() { Stop(); }

void ApiServiceController::Start() {
  const auto opened = [state = state_] {
    state->fresh.clear();
    state->caught_up = false;
  };
  const auto events = [state = state_](std::vector<storage::Event> some) { return state->TakeAll(std::move(some)); };
  asio::co_spawn(state_->strand, storage::Follower::Run(state_->follower, {opened, events}), &Forget);
  asio::co_spawn(state_->strand, state_->Work(state_), &Forget);
}

void ApiServiceController::Stop() {
  state_->follower->Stop();
  state_->Wake();
}

void ApiServiceController::RoutesChanged() { state_->Wake(); }

bool ApiServiceController::Synced() const { return state_->synced; }
bool ApiServiceController::ChecksExternals() const { return state_->checks_externals; }

}  // namespace apimesh::aggregator
