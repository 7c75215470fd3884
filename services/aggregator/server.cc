#include "services/aggregator/server.h"

#include <cstdio>
#include <cstdlib>
#include <future>
#include <limits>
#include <stdexcept>

#include <boost/asio/use_future.hpp>

#include "lib/admission/server_inputs.h"
#include "lib/base/async/wait_until.h"
#include "lib/base/log.h"
#include "lib/base/text/host_port.h"
#include "lib/endpoint/storage_config.h"
#include "lib/http/server.h"
#include "lib/mesh/identity.h"
#include "lib/mesh/in_process.h"
#include "lib/net/tls/tls.h"
#include "lib/service/auth/grpc_authority.h"
#include "lib/service/stores/stores.h"
#include "services/aggregator/apiservices/apiservice_resource.h"
#include "services/aggregator/apiservices/controller.h"
#include "services/aggregator/apiservices/own_server.h"
#include "services/aggregator/audit/auditor.h"
#include "services/aggregator/auth/cached_authority.h"
#include "services/aggregator/auth/reauthorization.h"
#include "services/aggregator/delegation/forwarder.h"
#include "services/aggregator/delegation/shard_metrics.h"
#include "services/aggregator/diagnostics/debug_socket.h"
#include "services/aggregator/diagnostics/diagnostics.h"
#include "services/aggregator/diagnostics/flag_values.h"
#include "services/aggregator/edge/api_errors.h"
#include "services/aggregator/edge/edge.h"
#include "services/aggregator/edge/http2_listener.h"
#include "services/aggregator/extensions/endpoint.h"
#include "services/aggregator/filters/chain.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/listeners.h"
#include "services/aggregator/metrics/auth_metrics.h"
#include "services/aggregator/metrics/request_metrics.h"
#include "services/aggregator/metrics/server_info.h"
#include "services/aggregator/routes/generic_routes.h"
#include "services/aggregator/version.h"

namespace apimesh::aggregator {
namespace {

// How long the process waits for the audit events of the last requests. The launcher kills it 10 s after SIGTERM.
constexpr std::chrono::seconds kAuditFlushLimit{8};

std::string ServerAddress(const Options& options) {
  const bool any = options.bind_address == "0.0.0.0" || options.bind_address == "::" || options.bind_address.empty();
  std::string host = options.external_hostname;
  if (host.empty()) host = any ? "127.0.0.1" : options.bind_address;
  return WithPort(host, options.advertise_port > 0 ? options.advertise_port : options.secure_port);
}

/// The inputs of admission plugins and of filters. APIServices are in the store of this process, if it has one.
admission::PluginInputs InputsOfPlugins(const Options& options, const Peers& peers, service::Runtime& runtime) {
  const auto find_store = [store = peers.api_services, &clock = runtime.GetClock()](const meta::Gvr& resource) {
    return store && resource == ApiServiceResource(clock).GetGvr() ? store : nullptr;
  };
  return admission::ServerInputs(runtime, peers.auth, find_store, peers.core_api, options.enable_aggregator_routing);
}

ExtensionInputs InputsOfExtensions(const Options& options, service::Runtime& runtime) {
  std::vector<std::string> sockets = options.common.listen;
  sockets.insert(sockets.end(), options.core_api.begin(), options.core_api.end());
  sockets.insert(sockets.end(), options.etcd.servers.begin(), options.etcd.servers.end());
  for (const std::string& one : {options.extensions_api, options.authn_authz, options.front_proxy_socket,
                                 options.front_proxy_h2_socket, options.common.health_address})
    sockets.push_back(one);
  std::vector<std::string> folders;
  for (const std::string& socket : sockets) {
    const std::size_t path = socket.find('/'), end = socket.rfind('/');
    if (IsSocket(socket) && path != std::string::npos) folders.push_back(socket.substr(path, end - path));
  }
  ExtensionInputs inputs{.clock = runtime.GetClock(),
                         .executor = runtime.Executor(),
                         .mesh_ca_file = options.common.mesh_ca_file,
                         .mesh_cert_file = options.common.mesh_cert_file,
                         .mesh_key_file = options.common.mesh_key_file,
                         .proxy_cert_file = options.proxy_client_cert_file,
                         .proxy_key_file = options.proxy_client_key_file,
                         .own_folders = folders,
                         .texts = std::make_shared<const schema::Descriptions>(options.descriptions_file),
                         .refuses = {}};
  inputs.refuses = [folders](const std::string& address) { return RefuseAddress(address, folders); };
  return inputs;
}

/// Returns the function with which filters add their hooks. The condition is checked by every health check.
std::function<void(std::string, std::function<bool()>)> AddHook(service::HealthChecks& checks) {
  return [&checks](std::string name, std::function<bool()> done) {
    checks.Add("poststarthook/" + name, [done = std::move(done)] { return std::string(done() ? "" : "not finished"); });
  };
}

}  // namespace

struct AggregatorServer::State {
  boost::asio::io_context* io = nullptr;
  const Clock* clock = nullptr;
  std::chrono::milliseconds watch_grace{};  // the ends of watches are spread over it
  std::shared_ptr<Lifecycle> lifecycle = std::make_shared<Lifecycle>();
  std::shared_ptr<RouteTable> routes = std::make_shared<RouteTable>();
  std::shared_ptr<CachedAuthority> authority;
  std::shared_ptr<OpenRequests> open_requests = std::make_shared<OpenRequests>();
  std::shared_ptr<Pages> pages = std::make_shared<Pages>();
  std::shared_ptr<GenericRoutes> generic_routes;
  std::shared_ptr<Auditor> auditor;                      // nullptr: nothing is audited
  std::shared_ptr<ApiServiceController> api_services;    // nullptr: APIServices are not served
  std::vector<std::unique_ptr<http::Server>> listeners;  // the public listener is the first

  void ServeApiServices(const Options& options, const Peers& peers, const admission::PluginInputs& inputs,
                        service::Runtime& runtime) {
    if (!peers.api_services) return;
    const Clock& clock = runtime.GetClock();
    const admission::ChainPtr admission = admission::MakeChain(inputs, options.admission);
    const auto own = mesh::InProcess(NewApiServiceServer({.clock = clock,
                                                          .store = peers.api_services,
                                                          .auth = peers.auth,
                                                          .admission = admission,
                                                          .descriptions_file = options.descriptions_file,
                                                          .features = options.common.Features(),
                                                          .large_requests = runtime.LargeRequests()}));
    routes->Add("apiservices", own, Delegate::Kind::kOwn);
    api_services = std::make_shared<ApiServiceController>(
        ApiServiceController::Parts{.clock = clock,
                                    .store = peers.api_services,
                                    .own = own,
                                    .core_api = peers.core_api,
                                    .routes = routes,
                                    .executor = runtime.Executor(),
                                    .parser = runtime.LargeRequests(),
                                    .proxy_cert_file = options.proxy_client_cert_file,
                                    .proxy_key_file = options.proxy_client_key_file,
                                    .endpoint_routing = options.enable_aggregator_routing,
                                    .reject_redirects = options.reject_redirects,
                                    .extensions = InputsOfExtensions(options, runtime),
                                    .metrics = runtime.GetMetrics()});
    const auto registered = [controller = api_services] {
      return controller->Synced() ? std::string() : std::string("not all group-versions are registered yet");
    };
    runtime.Health().Add("autoregister-completion", registered);
    const auto loaded = [store = peers.api_services] { return store->Ready().has_value(); };
    const auto synced = [controller = api_services] { return controller->Synced(); };
    runtime.PostStart("start-kube-aggregator-informers", [loaded] { return WaitUntil(loaded); });
    // The controller registers the group-versions of the mesh, writes their status, and publishes the routes.
    for (const char* part : {"apiservice-registration-controller", "apiservice-status-local-available-controller",
                             "kube-apiserver-autoregistration"}) {
      runtime.PostStart(part, [synced] { return WaitUntil(synced); });
    }
    const auto checks = [controller = api_services] { return controller->ChecksExternals(); };
    runtime.PostStart("apiservice-status-remote-available-controller", [checks] { return WaitUntil(checks); });
    // The documents of discovery and OpenAPI are made from the descriptions of the chain.
    const auto described = [routes = routes] { return routes->PublishedChain(); };
    for (const char* part :
         {"apiservice-discovery-controller", "apiservice-openapi-controller", "apiservice-openapiv3-controller"}) {
      runtime.PostStart(part, [described] { return WaitUntil(described); });
    }
    if (options.proxy_client_cert_file.empty()) return;
    net::ClientTlsOptions proxy;
    proxy.cert_file = options.proxy_client_cert_file;
    proxy.key_file = options.proxy_client_key_file;
    proxy.insecure_skip_verify = true;  // no connection is made
    const auto usable = [tls = std::make_shared<net::ClientTls>(proxy, clock)] {
      std::string error;
      return tls->NewSession("localhost", error) != nullptr;
    };
    runtime.PostStart("aggregator-reload-proxy-client-cert", [usable] { return WaitUntil(usable); });
  }

  void AddHealthChecks(service::HealthChecks& checks) const {
    constexpr unsigned kNotLivez = service::HealthChecks::kHealthz | service::HealthChecks::kReadyz;
    for (std::size_t i = 0; i < routes->Current()->delegates.size(); ++i) {
      if (routes->Current()->delegates[i].kind != Delegate::Kind::kChain) continue;
      const auto reachable = [table = routes, i] {
        const RoutesPtr now = table->Current();
        return now->delegates[i].up ? std::string() : now->delegates[i].name + " is not reachable";
      };
      checks.Add(routes->Current()->delegates[i].name, reachable, kNotLivez);
    }
    const auto connected = [authority = authority] {
      return authority->Connected() ? std::string() : std::string("authn-authz is not reachable");
    };
    checks.Add("authn-authz", connected, kNotLivez);
  }
};

AggregatorServer::AggregatorServer(const Options& options, Peers peers, service::Runtime& runtime)
    : state_(std::make_unique<State>()) {
  const Clock& clock = runtime.GetClock();
  state_->io = &runtime.Io();
  state_->routes->Add("core-api", peers.core_api);
  for (const auto& [name, client] : peers.shards) state_->routes->Add(name, client);
  state_->routes->Add("extensions-api", peers.extensions_api);
  const admission::PluginInputs plugin_inputs = InputsOfPlugins(options, peers, runtime);
  state_->ServeApiServices(options, peers, plugin_inputs, runtime);
  state_->authority = std::make_shared<CachedAuthority>(peers.authority, clock);

  state_->AddHealthChecks(runtime.Health());
  state_->clock = &clock;
  state_->watch_grace = options.watch_grace_period;
  state_->auditor = Auditor::New(options.audit, runtime.GetMetrics(), clock);
  auto metrics = std::make_shared<RequestMetrics>(runtime.GetMetrics());
  DescribeServer(runtime.GetMetrics(), options.version, options.common.feature_gates);
  const auto diagnostics =
      std::make_shared<Diagnostics>(Diagnostics::Parts{.options = options.diagnostics,
                                                       .features = options.common.Features(),
                                                       .flags = ReadFlagValues(options),
                                                       .processes = {state_->routes, state_->authority},
                                                       .clock = clock});
  state_->generic_routes = std::make_shared<GenericRoutes>(GenericRoutes::Parts{
      .routes = state_->routes,
      .forwarder = std::make_shared<Forwarder>(state_->routes, state_->lifecycle, state_->open_requests,
                                               options.tunnel_bytes_per_second),
      .health = runtime.Health(),
      .metrics = runtime.GetMetrics(),
      .metric_rules = std::make_shared<const MetricRules>(options.metrics),
      .authority = state_->authority,
      .pages = state_->pages,
      .diagnostics = diagnostics,
      .version_json = VersionJson(options.version),
      .server_address = ServerAddress(options),
  });
  state_->generic_routes->Rebuild(*state_->routes->Current());
  const FilterInputs filter_inputs{.options = options.filters,
                                   .features = options.common.Features(),
                                   .lifecycle = state_->lifecycle,
                                   .authority = state_->authority,
                                   .auditor = state_->auditor,
                                   .metrics = metrics,
                                   .auth_metrics = std::make_shared<AuthMetrics>(runtime.GetMetrics()),
                                   .routes = state_->routes,
                                   .pages = state_->pages,
                                   .objects = plugin_inputs.objects,
                                   .core_api = peers.core_api,
                                   .process_metrics = runtime.GetMetrics(),
                                   .executor = runtime.Executor(),
                                   .add_hook = AddHook(runtime.Health()),
                                   .clock = clock};
  auto filters = std::make_shared<const Filters>(BuildChain(filter_inputs, state_->generic_routes));
  const http::Limits limits = LimitsOf(options);
  http::ServerOptions public_port = PublicPort(options, limits, clock);
  public_port.limits.handshake_failed = [failures = runtime.GetMetrics().GetCounter(
                                             "apiserver_tls_handshake_errors_total",
                                             "Connections that ended because their TLS handshake failed.")]() mutable {
    failures.Add();
  };
  state_->listeners.push_back(http::Listen(std::move(public_port), EdgeHandler(Listener::kPublic, filters, clock)));
  if (options.mesh_port != 0)
    state_->listeners.push_back(
        http::Listen(FrontProxyPort(options, limits, clock), EdgeHandler(Listener::kFrontProxyPort, filters, clock)));
  if (!options.front_proxy_socket.empty()) {
    const std::string& address = UnixSocket("front-proxy-socket", options.front_proxy_socket);
    state_->listeners.push_back(http::Listen(PlainSocket(address, options, limits, clock),
                                             EdgeHandler(Listener::kFrontProxySocket, filters, clock)));
  }
  if (!options.front_proxy_h2_socket.empty()) {
    const std::string& address = UnixSocket("front-proxy-h2-socket", options.front_proxy_h2_socket);
    state_->listeners.push_back(ListenHttp2(address, options.common.io_threads, limits,
                                            EdgeHandler(Listener::kFrontProxySocket, filters, clock), clock));
  }
  if (!options.diagnostics.debug_socket.empty()) {
    auto debug = std::make_shared<const Filters>(BuildDebugChain(filter_inputs, MakeDebugSocket(diagnostics)));
    state_->listeners.push_back(
        http::Listen(PlainSocket("unix:" + options.diagnostics.debug_socket, options, limits, clock),
                     EdgeHandler(Listener::kPublic, std::move(debug), clock)));
  }

  state_->routes->Start([generic_routes = state_->generic_routes, api_services = state_->api_services,
                         shard_metrics = std::make_shared<ShardMetrics>(runtime.GetMetrics())](RoutesPtr routes) {
    generic_routes->Rebuild(*routes);
    shard_metrics->Update(*routes);
    if (api_services) api_services->RoutesChanged();
  });
  if (!options.shards_file.empty()) {
    auto shards = std::make_shared<ShardsFile>(options.shards_file, state_->routes, peers.connect_shard);
    boost::asio::co_spawn(runtime.Io(), ShardsFile::Follow(std::move(shards)), boost::asio::detached);
  }
  if (state_->api_services) state_->api_services->Start();
  const auto reauthorization = std::make_shared<Reauthorization>(peers.authority, state_->open_requests, clock);
  InvalidationFn apply = [authority = state_->authority, reauthorization](const auto& notice) {
    authority->Apply(notice);
    reauthorization->Apply(notice);
  };
  boost::asio::co_spawn(runtime.Io(), reauthorization->Run(), boost::asio::detached);
  boost::asio::co_spawn(runtime.Io(), peers.watch_invalidations(std::move(apply)), boost::asio::detached);
  log::Info("serving https on {}:{}", options.bind_address, Port());
}

AggregatorServer::~AggregatorServer() {
  if (state_->api_services) state_->api_services->Stop();
  state_->routes->Stop();
}

int AggregatorServer::Port() const { return state_->listeners[0]->Port(); }
int AggregatorServer::MeshPort() const { return state_->listeners.size() > 1 ? state_->listeners[1]->Port() : 0; }

void AggregatorServer::Drain(std::chrono::milliseconds limit) {
  state_->lifecycle->BeginDrain();
  if (state_->watch_grace.count() == 0) state_->lifecycle->EndSome(std::numeric_limits<std::size_t>::max());
  if (state_->auditor) state_->auditor->BeginShutdown();
  std::vector<std::future<void>> drained;
  if (state_->watch_grace.count() > 0) {
    drained.push_back(boost::asio::co_spawn(*state_->io,
                                            Lifecycle::EndOver(state_->lifecycle, state_->watch_grace, *state_->clock),
                                            boost::asio::use_future));
  }
  for (const auto& listener : state_->listeners)
    drained.push_back(boost::asio::co_spawn(*state_->io, listener->Drain(limit), boost::asio::use_future));
  for (auto& one : drained) one.wait();
  if (state_->auditor) state_->auditor->Shutdown(state_->clock->Steady() + kAuditFlushLimit);
  if (state_->api_services) state_->api_services->Stop();
  state_->routes->Stop();
}

Peers GrpcPeers(const Options& options, service::Runtime& runtime) {
  const auto connect = [common = options.common, executor = runtime.Executor(), &clock = runtime.GetClock()](
                           std::string_view process, const std::string& address) {
    return std::shared_ptr<mesh::DelegateClient>(
        mesh::NewDelegateClient(common.EndpointOf(process, address), executor, clock));
  };
  const auto core_api = [&](const std::string& address) { return connect(mesh::kCoreApi, address); };
  const mesh::Endpoint authn_authz = options.common.EndpointOf(mesh::kAuthnAuthz, options.authn_authz);
  const auto authority = std::make_shared<service::GrpcAuthority>(authn_authz, runtime.GetClock());
  Peers peers;
  if (options.core_api.empty()) throw std::runtime_error("--core-api is required");
  peers.core_api = core_api(options.core_api[0]);
  for (std::size_t i = 1; i < options.core_api.size(); ++i) {
    peers.shards.emplace_back(options.core_api[i], core_api(options.core_api[i]));
  }
  peers.extensions_api = connect(mesh::kExtensionsApi, options.extensions_api);
  peers.connect_shard = [connect](const ShardEntry& entry) { return connect(entry.process, entry.address); };
  peers.authority = authority;
  peers.watch_invalidations = [authority](InvalidationFn report) {
    return authority->WatchInvalidations(std::move(report));
  };
  if (options.etcd.servers.empty()) return peers;
  peers.api_services = service::OpenStores(options.etcd, runtime)
                           .backend->Open(endpoint::StorageConfig(ApiServiceResource(runtime.GetClock())));
  peers.auth = service::NewAuthClient(authority, runtime.GetClock());
  return peers;
}

void Run(const Options& options, const Clock& clock) {
  service::Runtime runtime("aggregator", options.common, clock);
  AggregatorServer server(options, GrpcPeers(options, runtime), runtime);
  runtime.OnDrain([&server](std::chrono::milliseconds limit) { server.Drain(limit); });
  const int code = runtime.Run();
  // Everything is drained. Pending calls to authn-authz would resume on a destroyed executor, so the process exits
  // here.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace apimesh::aggregator
