#include "services/aggregator/server.h"

#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>

#include <boost/asio/use_future.hpp>

#include "lib/admission/all_plugins.h"
#include "lib/base/log.h"
#include "lib/endpoint/storage_config.h"
#include "lib/http/body_budget.h"
#include "lib/http/server.h"
#include "lib/rpc/callers.h"
#include "lib/stores/stores.h"
#include "services/aggregator/apiservices/api_requests.h"
#include "services/aggregator/apiservices/apiservice_resource.h"
#include "services/aggregator/apiservices/controller.h"
#include "services/aggregator/apiservices/own_server.h"
#include "services/aggregator/auth/cached_authority.h"
#include "services/aggregator/auth/grpc_authority.h"
#include "services/aggregator/auth/reauthorization.h"
#include "services/aggregator/delegation/forwarder.h"
#include "services/aggregator/edge/edge.h"
#include "services/aggregator/edge/h2_door.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/metrics/auth_metrics.h"
#include "services/aggregator/metrics/request_metrics.h"
#include "services/aggregator/routes/generic_routes.h"

namespace apimesh::aggregator {
namespace {

// "cert,key" or "cert,key:name,name".
http::TlsOptions::Sni ParseSni(const std::string& text) {
  http::TlsOptions::Sni sni;
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) throw std::runtime_error("--tls-sni-cert-key: expected certificate,key in \"" + text + "\"");
  const std::size_t colon = text.find(':', comma);
  sni.cert_file = text.substr(0, comma);
  sni.key_file = text.substr(comma + 1, colon == std::string::npos ? colon : colon - comma - 1);
  for (std::size_t start = colon; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start + 1), text.size());
    sni.names.push_back(text.substr(start + 1, end - start - 1));
    start = end;
  }
  return sni;
}

/// The same at every door: what they share, they share as one process.
http::Limits LimitsOf(const Options& options) {
  http::Limits limits;
  if (options.max_body_bytes_in_flight > 0) limits.bodies = std::make_shared<http::BodyBudget>(options.max_body_bytes_in_flight);
  limits.connections = options.max_connections > 0 ? options.max_connections : http::DefaultMaxConnections();
  return limits;
}

http::ServerOptions PublicDoor(const Options& options, const http::Limits& limits) {
  http::ServerOptions door;
  door.limits = limits;
  door.address = options.bind_address;
  door.port = options.secure_port;
  door.threads = options.common.io_threads;
  door.tls_options.cert_file = options.tls_cert_file;
  door.tls_options.key_file = options.tls_key_file;
  door.tls_options.min_version = options.tls_min_version;
  door.tls_options.cipher_suites = options.tls_cipher_suites;
  for (const std::string& sni : options.tls_sni) door.tls_options.sni.push_back(ParseSni(sni));
  for (const std::string& file : {options.client_ca_file, options.request_header_ca_file}) {
    if (!file.empty()) door.tls_options.client_ca_files.push_back(file);
  }
  return door;
}

const std::string& UnixSocket(std::string_view flag, const std::string& address) {
  if (address.starts_with("unix:")) return address;
  throw std::runtime_error(fmt::format("--{}: expected unix:/path, not \"{}\"", flag, address));
}

http::ServerOptions FrontProxySocket(const Options& options, const http::Limits& limits) {
  http::ServerOptions door;
  door.limits = limits;
  door.address = UnixSocket("front-proxy-socket", options.front_proxy_socket);
  door.threads = options.common.io_threads;
  door.tls = false;
  return door;
}

http::ServerOptions FrontProxyPort(const Options& options, const http::Limits& limits) {
  http::ServerOptions door;
  door.limits = limits;
  door.address = options.mesh_bind_address;
  door.port = options.mesh_port;
  door.threads = options.common.io_threads;
  door.tls_options.cert_file = options.common.mesh_cert_file;
  door.tls_options.key_file = options.common.mesh_key_file;
  door.tls_options.client_ca_files = {options.common.mesh_ca_file};
  door.tls_options.client_certificate = http::TlsOptions::ClientCertificate::kRequire;
  // Whoever connects here is believed about the client's certificate, so nobody but the front proxy may.
  door.tls_options.client_uris = {rpc::IdentityOf(rpc::kEnvoy)};
  return door;
}

std::string ServerAddress(const Options& options) {
  const bool any = options.bind_address == "0.0.0.0" || options.bind_address == "::" || options.bind_address.empty();
  return fmt::format("{}:{}", any ? "127.0.0.1" : options.bind_address, options.secure_port);
}

std::shared_ptr<AuditLog> NewAuditLog(const Options& options) {
  if (options.audit_policy_file.empty() || options.audit_log.path.empty()) return nullptr;
  return std::make_shared<AuditLog>(AuditPolicy::FromFile(options.audit_policy_file), options.audit_log);
}

}  // namespace

struct AggregatorServer::State {
  boost::asio::io_context* io = nullptr;
  std::shared_ptr<Lifecycle> lifecycle = std::make_shared<Lifecycle>();
  std::shared_ptr<RouteTable> routes = std::make_shared<RouteTable>();
  std::shared_ptr<CachedAuthority> authority;
  std::shared_ptr<OpenRequests> open_requests = std::make_shared<OpenRequests>();
  std::shared_ptr<GenericRoutes> generic_routes;
  std::shared_ptr<ApiServiceController> api_services;  // nullptr: none are kept
  std::vector<std::unique_ptr<http::Server>> doors;  // the public one first

  void ServeApiServices(const Options& options, const Neighbours& neighbours, service::Runtime& runtime) {
    if (!neighbours.api_services) return;
    const admission::ChainPtr admission = admission::MakeChain(
        {.auth = neighbours.auth},
        {.enable = options.enable_admission_plugins, .disable = options.disable_admission_plugins, .only = options.admission_control});
    const auto own = InProcess(NewApiServiceServer(neighbours.api_services, neighbours.auth, admission));
    routes->Add("apiservices", own, Delegate::Kind::kOwn);
    api_services = std::make_shared<ApiServiceController>(
        ApiServiceController::Parts{.store = neighbours.api_services,
                                    .own = own,
                                    .core_api = neighbours.core_api,
                                    .routes = routes,
                                    .executor = runtime.Executor(),
                                    .proxy_cert_file = options.proxy_client_cert_file,
                                    .proxy_key_file = options.proxy_client_key_file,
                                    .endpoint_routing = options.enable_aggregator_routing});
    const auto registered = [controller = api_services] {
      return controller->Synced() ? std::string() : std::string("not all group-versions are registered yet");
    };
    runtime.Health().Add("autoregister-completion", registered, service::HealthChecks::kReadyz);
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

AggregatorServer::AggregatorServer(const Options& options, Neighbours neighbours, service::Runtime& runtime)
    : state_(std::make_unique<State>()) {
  state_->io = &runtime.Io();
  state_->routes->Add("core-api", neighbours.core_api);
  for (const auto& [name, client] : neighbours.shards) state_->routes->Add(name, client);
  state_->routes->Add("extensions-api", neighbours.extensions_api);
  state_->ServeApiServices(options, neighbours, runtime);
  state_->authority = std::make_shared<CachedAuthority>(neighbours.authority, Clock::System());

  state_->AddHealthChecks(runtime.Health());
  auto metrics = std::make_shared<RequestMetrics>(runtime.GetMetrics());
  state_->generic_routes = std::make_shared<GenericRoutes>(GenericRoutes::Parts{
      .routes = state_->routes,
      .forwarder = std::make_shared<Forwarder>(state_->routes, state_->lifecycle, state_->open_requests),
      .health = runtime.Health(),
      .metrics = runtime.GetMetrics(),
      .authority = state_->authority,
      .version_json = VersionJson(options.version),
      .server_address = ServerAddress(options),
  });
  state_->generic_routes->Rebuild(*state_->routes->Current());
  ChainOptions chain = options.chain;
  chain.request_timeout = service::ParseDuration(options.common.request_timeout).value_or(chain.request_timeout);
  auto filters = std::make_shared<const Filters>(
      BuildChain(chain, ChainParts{.lifecycle = state_->lifecycle,
                                   .authority = state_->authority,
                                   .audit_log = NewAuditLog(options),
                                   .metrics = metrics,
                                   .auth_metrics = std::make_shared<AuthMetrics>(runtime.GetMetrics()),
                                   .routes = state_->routes,
                                   .last = state_->generic_routes,
                                   .clock = Clock::System()}));
  const http::Limits limits = LimitsOf(options);
  state_->doors.push_back(http::Listen(PublicDoor(options, limits), EdgeHandler(Door::kPublic, filters)));
  if (options.mesh_port != 0) state_->doors.push_back(http::Listen(FrontProxyPort(options, limits), EdgeHandler(Door::kFrontProxyPort, filters)));
  if (!options.front_proxy_socket.empty()) {
    state_->doors.push_back(http::Listen(FrontProxySocket(options, limits), EdgeHandler(Door::kFrontProxySocket, filters)));
  }
  if (!options.front_proxy_h2_socket.empty()) {
    const std::string& address = UnixSocket("front-proxy-h2-socket", options.front_proxy_h2_socket);
    state_->doors.push_back(ListenHttp2(address, options.common.io_threads, limits, EdgeHandler(Door::kFrontProxySocket, filters)));
  }

  state_->routes->Start([generic_routes = state_->generic_routes, api_services = state_->api_services](RoutesPtr routes) {
    generic_routes->Rebuild(*routes);
    if (api_services) api_services->RoutesChanged();
  });
  if (state_->api_services) state_->api_services->Start();
  const auto reauthorization =
      std::make_shared<Reauthorization>(neighbours.authority, state_->open_requests, Clock::System());
  InvalidationFn apply = [authority = state_->authority, reauthorization](const auto& notice) {
    authority->Apply(notice);
    reauthorization->Apply(notice);
  };
  boost::asio::co_spawn(runtime.Io(), reauthorization->Run(), boost::asio::detached);
  boost::asio::co_spawn(runtime.Io(), neighbours.watch_invalidations(std::move(apply)), boost::asio::detached);
  log::Info("serving https on {}:{}", options.bind_address, Port());
}

AggregatorServer::~AggregatorServer() {
  if (state_->api_services) state_->api_services->Stop();
  state_->routes->Stop();
}

int AggregatorServer::Port() const { return state_->doors[0]->Port(); }
int AggregatorServer::MeshPort() const { return state_->doors.size() > 1 ? state_->doors[1]->Port() : 0; }

void AggregatorServer::Drain(std::chrono::milliseconds limit) {
  state_->lifecycle->BeginDrain();
  std::vector<std::future<void>> drained;
  for (const auto& door : state_->doors) drained.push_back(boost::asio::co_spawn(*state_->io, door->Drain(limit), boost::asio::use_future));
  for (auto& one : drained) one.wait();
  if (state_->api_services) state_->api_services->Stop();
  state_->routes->Stop();
}

Neighbours GrpcNeighbours(const Options& options, service::Runtime& runtime) {
  const auto core_api = [&](const std::string& address) {
    return rpc::NewDelegateClient(options.common.EndpointOf(rpc::kCoreApi, address), runtime.Executor());
  };
  const rpc::Endpoint authn_authz = options.common.EndpointOf(rpc::kAuthnAuthz, options.authn_authz);
  auto authority = NewGrpcAuthority(authn_authz);
  Neighbours neighbours;
  if (options.core_api.empty()) throw std::runtime_error("--core-api is required");
  neighbours.core_api = core_api(options.core_api[0]);
  for (std::size_t i = 1; i < options.core_api.size(); ++i) {
    neighbours.shards.emplace_back(options.core_api[i], core_api(options.core_api[i]));
  }
  neighbours.extensions_api =
      rpc::NewDelegateClient(options.common.EndpointOf(rpc::kExtensionsApi, options.extensions_api), runtime.Executor());
  neighbours.authority = authority;
  neighbours.watch_invalidations = [authority](InvalidationFn report) { return authority->WatchInvalidations(std::move(report)); };
  if (options.etcd.servers.empty()) return neighbours;
  neighbours.api_services = stores::OpenStores(options.etcd, runtime).backend->Open(endpoint::StorageConfig(ApiServiceResource()));
  neighbours.auth = service::NewAuthClient(authn_authz);
  return neighbours;
}

void Run(const Options& options) {
  service::Runtime runtime("aggregator", options.common);
  AggregatorServer server(options, GrpcNeighbours(options, runtime), runtime);
  runtime.OnDrain([&server](std::chrono::milliseconds limit) { server.Drain(limit); });
  const int code = runtime.Run();
  // All is drained. What still waits for authn-authz would come back to an executor that is gone: end here.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace apimesh::aggregator
