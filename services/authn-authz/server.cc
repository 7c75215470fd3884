#include "services/authn-authz/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

#include "lib/base/log.h"
#include "lib/h2/server.h"
#include "lib/rpc/reflection.h"
#include "services/authn-authz/authenticators/chain.h"
#include "services/authn-authz/authorizers/chain.h"
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

ClusterState::Wanted WantedState(const Options& options, const std::vector<AuthorizerConfig>& authorizers) {
  const AuthenticationOptions& authentication = options.authentication;
  return {.rbac = HasMode(authorizers, "RBAC"),
          .tokens = !authentication.service_account_key_files.empty() || !authentication.service_account_signing_key_file.empty(),
          .bootstrap_tokens = authentication.enable_bootstrap_token_auth,
          .node_graph = HasMode(authorizers, "Node")};
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(const Options& options)
      : clock_(Clock::System()),
        authorizers_(Authorizers(options)),
        revisions_(std::make_shared<Revisions>(clock_)),
        core_api_(rpc::NewDelegateClient(options.common.EndpointOf(options.core_api), io_.get_executor())),
        state_(core_api_, WantedState(options, authorizers_), revisions_, clock_),
        chain_(BuildAuthenticatorChain(options.authentication, state_.Tokens(), clock_)),
        authorizer_(BuildAuthorizerChain(authorizers_, options.authorization,
                                         {state_.Rbac(), state_.Graph(), [this] { return state_.Loaded(); }}, clock_)),
        authn_(chain_.authenticator, chain_.api_audiences, revisions_, clock_),
        authz_(authorizer_, revisions_, io_.get_executor()),
        envoy_(chain_.authenticator, authorizer_, chain_.api_audiences) {
    if (chain_.token_cache) {
      revisions_->BeforeBump([cache = chain_.token_cache](const Revisions::Change& change) {
        if (change.authentication) cache->Clear();
      });
    }
    h2::Methods methods;
    authn_.AddTo(methods);
    authz_.AddTo(methods);
    envoy_.AddTo(methods);
    rpc::AddReflection(methods);
    server_ = h2::Serve(options.common.Listeners(), std::move(methods), {&io_});
    server_->SetServing(false);
    state_.OnLoaded([this] {
      log::Info("state loaded: ready");
      server_->SetServing(true);
    });
    state_.Start(io_.get_executor());
    thread_ = std::thread([this] { io_.run(); });
  }

  ~ServerImpl() override { Stop(); }

  int Port(std::size_t listener) const override { return server_->Port(listener); }
  std::string WhyNotReady() const override { return state_.WhyNotLoaded(); }

  void Stop() override {
    if (!thread_.joinable()) return;
    server_->SetServing(false);
    server_->Drain(std::chrono::seconds(1));
    state_.Stop();
    work_.reset();
    io_.stop();
    thread_.join();
  }

 private:
  const Clock& clock_;
  const std::vector<AuthorizerConfig> authorizers_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<rpc::DelegateClient> core_api_;
  ClusterState state_;
  const AuthenticatorChain chain_;
  const std::shared_ptr<Authorizer> authorizer_;
  AuthnService authn_;
  AuthzService authz_;
  EnvoyService envoy_;
  std::unique_ptr<h2::Server> server_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Server> Server::Start(const Options& options) { return std::make_unique<ServerImpl>(options); }

}  // namespace apimesh::authn_authz
