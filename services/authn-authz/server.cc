#include "services/authn-authz/server.h"

#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/base/log.h"
#include "lib/externaljwt/signer.h"
#include "lib/grpc/server.h"
#include "lib/mesh/callers.h"
#include "lib/mesh/reflection.h"
#include "services/authn-authz/authenticators/bootstrap/flags.h"
#include "services/authn-authz/authenticators/chain.h"
#include "services/authn-authz/authenticators/serviceaccount/flags.h"
#include "services/authn-authz/authorizers/chain.h"
#include "services/authn-authz/authorizers/reloading/reloading.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/reloader.h"
#include "services/authn-authz/rpc/authn_service.h"
#include "services/authn-authz/rpc/authz_service.h"
#include "services/authn-authz/rpc/envoy_service.h"
#include "services/authn-authz/state/cluster_state.h"

namespace apimesh::authn_authz {
namespace {

std::vector<AuthorizerConfig> Authorizers(const Options& options) {
  auto configs = LoadAuthorizationConfig(options.authorization);
  if (!configs) throw std::runtime_error(configs.error().Message());
  return std::move(*configs);
}

ClusterState::Wanted WantedState(const Options& options, const std::vector<AuthorizerConfig>& authorizers,
                                 LegacyTokenUses::Send report_legacy_token) {
  const flags::OptionSet& authenticators = options.authentication.extensions;
  return {.rbac = HasMode(authorizers, "RBAC"),
          .tokens = authenticators.Get<ServiceAccountFlags>().Verifies(),
          .bootstrap_tokens = authenticators.Get<BootstrapTokenFlags>().enabled,
          .node_graph = HasMode(authorizers, "Node"),
          .pod_certificates = options.authorization.features.Enabled(features::kPodCertificateRequest),
          .report_legacy_token = std::move(report_legacy_token)};
}

mesh::Endpoint CoreApi(const Options& options) {
  return options.common.EndpointOf(mesh::kCoreApi, options.core_api.at(0));
}

/// Returns the options with which the server runs.
Options Completed(Options options) {
  options.authentication.features = options.authorization.features = options.common.Features();
  if (ResetAnonymousAuth(options)) {
    log::Warning(
        "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should "
        "use a different "
        "authorizer");
  }
  return options;
}

}  // namespace

class Server::State {
 public:
  State(const Options& options, service::Metrics& metrics, const Clock& clock)
      : clock_(clock),
        authorizers_(Authorizers(options)),
        token_signer_(externaljwt::Signer::SetUp(
            options.authentication.extensions.Get<ServiceAccountFlags>().signer.endpoint, clock_)),
        revisions_(std::make_shared<Revisions>(clock_)),
        core_api_(mesh::NewDelegateClient(CoreApi(options), io_.get_executor(), clock_)),
        state_(core_api_,
               WantedState(options, authorizers_, SendToCoreApi(CoreApi(options), io_.get_executor(), clock_)),
               revisions_, clock_),
        chain_(BuildAuthenticatorChain(options.authentication, state_.Tokens(), clock_, metrics, token_signer_)),
        authorizer_(std::make_shared<ReloadingAuthorizer>(NewAuthorizer(options, authorizers_, metrics))),
        authn_(chain_.authenticator, chain_.api_audiences, revisions_, clock_),
        authz_(
            authorizer_, revisions_, [this] { return state_.Loaded(); }, io_.get_executor(), metrics),
        envoy_(chain_.authenticator, authorizer_, chain_.api_audiences) {
    if (chain_.token_cache) {
      revisions_->BeforeBump([cache = chain_.token_cache](const Revisions::Change& change) {
        if (change.authentication) cache->Clear();
      });
    }
    if (token_signer_) {
      // Cached results of tokens may depend on keys that are no longer valid.
      token_signer_->Keys().OnChange([revisions = revisions_] { revisions->Bump(true, false); });
      token_signer_->Start(metrics, io_.get_executor());
    }
    grpc::Methods methods;
    authn_.AddTo(methods);
    authz_.AddTo(methods);
    envoy_.AddTo(methods);
    mesh::AddReflection(methods);
    server_ = grpc::Serve(options.common.Listeners(mesh::kAuthnAuthz), std::move(methods), {&io_}, clock_);
    server_->SetServing(false);
    state_.OnLoaded([this] {
      log::Info("state loaded: ready");
      server_->SetServing(true);
    });
    state_.Start(io_.get_executor());
    StartReloading(options, metrics);
    thread_ = std::thread([this] { io_.run(); });
  }

  ~State() { Stop(); }

  int Port(std::size_t listener) const { return server_->Port(listener); }
  std::string WhyNotReady() const { return state_.WhyNotLoaded(); }

  void Stop() {
    if (!thread_.joinable()) return;
    server_->SetServing(false);
    server_->Drain(std::chrono::seconds(1));
    state_.Stop();
    if (token_signer_) token_signer_->Stop();
    work_.reset();
    io_.stop();
    thread_.join();
  }

 private:
  std::shared_ptr<Authorizer> NewAuthorizer(const Options& options, const std::vector<AuthorizerConfig>& configs,
                                            service::Metrics& metrics) {
    const AuthorizationState state{state_.Rbac(), state_.Graph(), [this] { return state_.Loaded(); }};
    return BuildAuthorizerChain(configs, options.authorization, state, clock_, metrics);
  }

  void StartReloading(const Options& options, service::Metrics& metrics) {
    if (!options.authorization.config_file.empty()) {
      const auto apply = [this, options, &metrics](std::string text) {
        return ReloadAuthorization(this, options, &metrics, std::move(text));
      };
      reloaders_.push_back(std::make_unique<ConfigReloader>(options.authorization.config_file,
                                                            "authorization_config_controller", apply, metrics, clock_));
    }
    if (!options.authentication.authentication_config.empty()) {
      const auto first = LoadAuthenticationConfig(options.authentication);
      const AuthenticationConfig known = first ? *first : AuthenticationConfig();
      const auto apply = [this, options, known](std::string text) {
        return ReloadAuthentication(this, options, known, std::move(text));
      };
      reloaders_.push_back(std::make_unique<ConfigReloader>(
          options.authentication.authentication_config, "authentication_config_controller", apply, metrics, clock_));
    }
    for (const auto& reloader : reloaders_) boost::asio::co_spawn(io_, reloader->Run(), boost::asio::detached);
  }

  static Task<meta::Result<>> ReloadAuthorization(State* server, Options options, service::Metrics* metrics,
                                                  std::string text) {
    std::set<std::string> started_with;
    for (const AuthorizerConfig& config : server->authorizers_) {
      if (config.type != "Webhook") started_with.insert(config.type);
    }
    ASSIGN_OR_CO_RETURN(const std::vector<AuthorizerConfig> configs, ParseAuthorizationConfig(text, started_with));
    for (const AuthorizerConfig& config : configs) {
      // The state that these authorizers need is not being watched.
      if ((config.type == "RBAC" || config.type == "Node" || config.type == "ABAC") &&
          !started_with.contains(config.type)) {
        co_return meta::BadRequest(fmt::format(
            "authorizer type {} is not allowed if it was not enabled at initial server startup", config.type));
      }
    }
    try {
      server->authorizer_->Replace(server->NewAuthorizer(options, configs, *metrics));
    } catch (const std::exception& error) {
      co_return meta::BadRequest(error.what());
    }
    server->revisions_->Bump(false, true);
    co_return meta::Result<>();
  }

  static Task<meta::Result<>> ReloadAuthentication(State* server, Options options, AuthenticationConfig first,
                                                   std::string text) {
    ASSIGN_OR_CO_RETURN(AuthenticationConfig config, ParseAuthenticationConfig(text, options.authentication));
    if (!config.SameAnonymous(first))
      co_return meta::BadRequest("anonymous: Forbidden: changed from initial configuration file");
    CO_RETURN_IF_ERROR(co_await server->chain_.issuers->Replace(std::move(config.issuers)));
    server->revisions_->Bump(true, false);
    co_return meta::Result<>();
  }

  const Clock& clock_;
  const std::vector<AuthorizerConfig> authorizers_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  const std::shared_ptr<externaljwt::Signer> token_signer_;  // nullptr: the keys of tokens are in files
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<mesh::DelegateClient> core_api_;
  ClusterState state_;
  const AuthenticatorChain chain_;
  const std::shared_ptr<ReloadingAuthorizer> authorizer_;
  AuthnService authn_;
  AuthzService authz_;
  EnvoyService envoy_;
  std::vector<std::unique_ptr<ConfigReloader>> reloaders_;
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
};

Server::Server(const Options& options, service::Metrics& metrics, const Clock& clock)
    : state_(std::make_unique<State>(Completed(options), metrics, clock)) {}
Server::~Server() = default;
int Server::Port(std::size_t listener) const { return state_->Port(listener); }
std::string Server::WhyNotReady() const { return state_->WhyNotReady(); }
void Server::Stop() { state_->Stop(); }

}  // namespace apimesh::authn_authz
