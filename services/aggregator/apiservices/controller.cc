#include "services/aggregator/apiservices/controller.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <set>

#include "lib/base/log.h"
#include "lib/base/wakeup.h"
#include "lib/codec/base64.h"
#include "lib/codec/codec.h"
#include "services/aggregator/apiservices/api_requests.h"
#include "services/aggregator/apiservices/apiservice_resource.h"
#include "services/aggregator/apiservices/automatic.h"
#include "services/aggregator/apiservices/external_discovery.h"
#include "services/aggregator/apiservices/external_server.h"

namespace apimesh::aggregator {
namespace asio = boost::asio;
namespace json = meta::json;

namespace {

constexpr const char* kPath = "/apis/apiregistration.k8s.io/v1/apiservices";
constexpr std::chrono::seconds kRetryPause{1}, kCheckUnavailable{1}, kCheckAvailable{5};
constexpr std::chrono::milliseconds kTick{250};

using Objects = std::map<std::string, meta::Object>;

/// A server outside the mesh.
struct External {
  std::shared_ptr<ExternalServer> server;
  Registration registration;
  rpc::Description description;
  bool available = false;
  bool checking = false;
  SteadyTime next_check{};
};

void Forget(std::exception_ptr) {}

std::int64_t NumberAt(const meta::Object& object, std::string_view field) {
  const json::value* found = meta::Find(object.Root(), "spec", field);
  return found && found->is_int64() ? found->get_int64() : 0;
}

Registration RegistrationOf(const meta::Object& object) {
  return {std::string(meta::FindString(object.Root(), "spec", "group")), std::string(meta::FindString(object.Root(), "spec", "version")),
          static_cast<int>(NumberAt(object, "groupPriorityMinimum")), static_cast<int>(NumberAt(object, "versionPriority"))};
}

}  // namespace

/// Lives on a strand; its loops hold it.
struct ApiServiceController::State : std::enable_shared_from_this<State> {
  explicit State(Parts all) : parts(std::move(all)), strand(asio::make_strand(parts.executor)) {}

  Task<> Follow(std::shared_ptr<State> self);
  Task<> Work(std::shared_ptr<State> self);
  Task<> Register(std::shared_ptr<State> self);
  Task<> Check(std::shared_ptr<State> self, std::string name);
  Task<> WriteStatus(std::shared_ptr<State> self, std::string name, std::string status, std::string reason, std::string message);
  void FindExternals();
  void Publish();
  void Wake() {
    const std::lock_guard lock(mutex);
    wakeup->Wake();
  }
  bool Stopped() {
    const std::lock_guard lock(mutex);
    return stopped;
  }
  ExternalOptions OptionsOf(const meta::Object& object) const;

  const Parts parts;
  asio::strand<asio::any_io_executor> strand;
  Objects objects;  // as the store has them
  bool complete = false;
  bool began = false;
  std::set<std::string> at_start;  // names that were there when we began
  std::set<std::string> looked_after;
  std::optional<Objects> desired;  // the automatic ones
  RoutesPtr desired_by;            // what they were worked out from
  std::map<std::string, External> externals;
  std::string published;  // what the route table has
  std::atomic<bool> synced = false;
  std::mutex mutex;
  bool stopped = false;                               // guarded by mutex
  std::shared_ptr<storage::Watcher> watcher;          // guarded by mutex
  std::shared_ptr<Wakeup> wakeup = Wakeup::New();     // guarded by mutex
};

ExternalOptions ApiServiceController::State::OptionsOf(const meta::Object& object) const {
  const json::object& service = meta::Find(object.Root(), "spec", "service")->get_object();
  const json::value* port = meta::FindField(service, "port");
  const json::value* insecure = meta::Find(object.Root(), "spec", "insecureSkipTLSVerify");
  ExternalOptions options;
  options.group = meta::FindString(object.Root(), "spec", "group");
  options.version = meta::FindString(object.Root(), "spec", "version");
  options.service = {std::string(meta::FindString(service, "namespace")), std::string(meta::FindString(service, "name")),
                     port && port->is_int64() ? port->get_int64() : 443};
  codec::DecodeBase64(meta::FindString(object.Root(), "spec", "caBundle"), options.ca_pem);
  options.insecure_skip_verify = insecure && *insecure == true;
  options.cert_file = parts.proxy_cert_file;
  options.key_file = parts.proxy_key_file;
  return options;
}

void ApiServiceController::State::FindExternals() {
  std::erase_if(externals, [this](const auto& one) {
    const auto found = objects.find(one.first);
    return found == objects.end() || !IsExternal(found->second);
  });
  for (const auto& [name, object] : objects) {
    if (!IsExternal(object)) continue;
    External& external = externals[name];
    ExternalOptions options = OptionsOf(object);
    if (!external.server || external.server->Options() != options) {
      external = External{};
      external.server = std::make_shared<ExternalServer>(std::move(options));
    }
    const Registration registration = RegistrationOf(object);
    if (external.description.group_versions.empty() || external.registration.group_priority_minimum != registration.group_priority_minimum ||
        external.registration.version_priority != registration.version_priority) {
      external.registration = registration;
      std::string known = external.description.group_versions.empty() ? "" : external.description.group_versions[0].resource_list;
      std::string hash = external.description.group_versions.empty() ? "" : external.description.group_versions[0].openapi_v3_hash;
      external.description = DescribeExternal(registration, std::move(known), std::move(hash));
    }
    if (!external.checking && external.next_check <= Clock::System().Steady()) {
      external.checking = true;
      asio::co_spawn(strand, Check(shared_from_this(), name), &Forget);
    }
  }
}

void ApiServiceController::State::Publish() {
  std::vector<Delegate> delegates;
  std::string key;
  for (const auto& [name, external] : externals) {
    delegates.push_back({name, external.server, external.description, external.available, Delegate::Kind::kExternal});
    const rpc::GroupVersionDescription& gv = external.description.group_versions[0];
    key += fmt::format("{} {} {} {} {} {}\n", name, fmt::ptr(external.server.get()), external.description.etag, external.available,
                       gv.group_priority_minimum, gv.version_priority);
  }
  if (key == published) return;
  published = key;
  parts.routes->SetExternal(std::move(delegates));
}

Task<> ApiServiceController::State::Check(std::shared_ptr<State> self, std::string name) {
  const std::shared_ptr<ExternalServer> server = externals.at(name).server;
  const Registration registration = externals.at(name).registration;
  ServicePlaces places = co_await ResolveService(parts.core_api, server->Options().service, parts.endpoint_routing);
  std::string list, hash;
  if (!places.hosts.empty()) {
    server->SetHosts(places.hosts);
    const std::string path = fmt::format("/apis/{}/{}", registration.group, registration.version);
    const meta::Result<http::ClientResponse> answer = co_await server->Ask(path, "application/json");
    if (answer) {
      list = answer->body;
      places.status = "True";
      places.reason = "Passed";
      places.message = "all checks passed";
      const meta::Result<http::ClientResponse> index = co_await server->Ask("/openapi/v3", "application/json");
      if (index) hash = OpenApiHash(index->body, registration.group, registration.version);
    } else {
      places.reason = "FailedDiscoveryCheck";
      places.message = answer.error().Message();
    }
  }
  const bool available = places.status == "True";
  if (!available) server->SetHosts({});
  const auto found = externals.find(name);
  if (found == externals.end() || found->second.server != server) co_return;  // it is another one by now
  External& external = found->second;
  external.checking = false;
  external.available = available;
  external.next_check = Clock::System().Steady() + (available ? kCheckAvailable : kCheckUnavailable);
  external.description = DescribeExternal(external.registration, std::move(list), std::move(hash));
  Publish();
  co_await WriteStatus(self, name, places.status, places.reason, places.message);
}

Task<> ApiServiceController::State::WriteStatus(std::shared_ptr<State> /*keeps this alive*/, std::string name, std::string status,
                                                std::string reason, std::string message) {
  const auto found = objects.find(name);
  if (found == objects.end()) co_return;
  meta::Object object = found->second;
  if (!SetAvailable(object, status, reason, message, Clock::System().Now())) co_return;
  log::Info("APIService {} is {}available: {}", name, status == "True" ? "" : "not ", message);
  const std::string path = fmt::format("{}/{}/status", kPath, name);
  const meta::Result<meta::Object> written = co_await SendRequest(parts.own, "PUT", path, "", codec::WriteJson(object.Root()));
  // A lost race is made good by the next check.
  if (!written && !written.error().Is("Conflict") && !written.error().Is("NotFound")) {
    log::Warning("status of APIService {}: {}", name, written.error().Message());
  }
}

Task<> ApiServiceController::State::Register(std::shared_ptr<State> /*keeps this alive*/) {
  if (const RoutesPtr routes = parts.routes->Current(); routes != desired_by) {
    desired = AutomaticApiServices(*routes);
    desired_by = routes;
  }
  if (!desired) co_return;
  std::set<std::string> names;
  for (const auto& [name, object] : *desired) names.insert(name);
  for (const auto& [name, object] : objects) names.insert(name);
  bool all_well = true;
  for (const std::string& name : names) {
    const auto wanted = desired->find(name);
    const auto current = objects.find(name);
    const meta::Object* want = wanted == desired->end() ? nullptr : &wanted->second;
    const meta::Object* have = current == objects.end() ? nullptr : &current->second;
    const Upkeep upkeep = Decide(want, have, at_start.contains(name), looked_after.contains(name));
    const std::string path = fmt::format("{}/{}", kPath, name);
    meta::Result<meta::Object> done = meta::Object();
    if (upkeep == Upkeep::kCreate) {
      done = co_await SendRequest(parts.own, "POST", kPath, "", codec::WriteJson(want->Root()));
    } else if (upkeep == Upkeep::kUpdate) {
      meta::Object changed = *have;
      changed.Root()["spec"] = *meta::FindField(want->Root(), "spec");
      done = co_await SendRequest(parts.own, "PUT", path, "", codec::WriteJson(changed.Root()));
    } else if (upkeep == Upkeep::kDelete) {
      const std::string options = codec::WriteJson(json::object{{"preconditions", {{"uid", have->Uid()}}}});
      done = co_await SendRequest(parts.own, "DELETE", path, "", options);
    }
    const bool raced = !done && (done.error().Is("AlreadyExists") || done.error().Is("NotFound") || done.error().Is("Conflict"));
    if (done || raced) {
      looked_after.insert(name);
    } else {
      all_well = false;
      log::Warning("APIService {}: {}", name, done.error().Message());
    }
  }
  if (all_well) synced = true;
}

Task<> ApiServiceController::State::Work(std::shared_ptr<State> self) {
  for (;;) {
    const std::shared_ptr<Wakeup> sleep = Wakeup::New();
    {
      const std::lock_guard lock(mutex);
      if (stopped) co_return;
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
    }
    const bool idle = externals.empty() && synced;
    co_await Wakeup::Wait(sleep, idle ? SteadyTime::max() : Clock::System().Steady() + kTick);
  }
}

Task<> ApiServiceController::State::Follow(std::shared_ptr<State> /*self: kept until the end*/) {
  for (;;) {
    const meta::RequestContext ctx;
    storage::WatchOptions options;
    options.match = storage::VersionMatch::kNotOlderThan;
    options.send_initial_events = true;
    options.allow_bookmarks = true;
    meta::Result<std::unique_ptr<storage::Watcher>> opened = co_await parts.store->Watch(ctx, options);
    const std::shared_ptr<storage::Watcher> events = opened ? std::move(*opened) : nullptr;
    {
      const std::lock_guard lock(mutex);
      if (stopped) co_return;
      watcher = events;
    }
    Objects fresh;
    bool caught_up = false;
    while (events) {
      const std::vector<storage::Event> some = co_await events->Next();
      if (some.empty()) break;
      for (const storage::Event& event : some) {
        Objects& target = caught_up ? objects : fresh;
        if (event.object && event.type == storage::Event::Type::kDeleted) {
          target.erase(event.object->GetKey().text);
        } else if (event.object) {
          meta::Result<json::value> value = codec::ParseJson(event.object->Json().View(), {});
          if (value && value->is_object()) target[event.object->GetKey().text] = meta::Object(std::move(value->get_object()));
        }
        if (event.initial_events_end) {
          objects = std::move(fresh);
          caught_up = complete = true;
        }
      }
      if (caught_up) Wake();
    }
    if (Stopped()) co_return;
    co_await SleepUntil(Clock::System().Steady() + kRetryPause);
  }
}

ApiServiceController::ApiServiceController(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {}
ApiServiceController::~ApiServiceController() { Stop(); }

void ApiServiceController::Start() {
  asio::co_spawn(state_->strand, state_->Follow(state_), &Forget);
  asio::co_spawn(state_->strand, state_->Work(state_), &Forget);
}

void ApiServiceController::Stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  if (state_->watcher) state_->watcher->Stop();
  state_->wakeup->Wake();
}

void ApiServiceController::RoutesChanged() { state_->Wake(); }

bool ApiServiceController::Synced() const { return state_->synced; }

}  // namespace apimesh::aggregator
