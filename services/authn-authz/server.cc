#include "services/authn-authz/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

#include "lib/base/log.h"
#include "lib/rpc/grpc_server.h"
#include "services/authn-authz/authenticators/chain.h"
#include "services/authn-authz/authorizers/chain.h"
#include "services/authn-authz/rpc/authn_service.h"
#include "services/authn-authz/rpc/authz_service.h"
#include "services/authn-authz/rpc/envoy_service.h"
#include "services/authn-authz/state/cluster_state.h"

namespace apimesh::authn_authz {
namespace {

// For certificate chains and webhooks; decisions are made on gRPC's threads.
constexpr int kThreads = 2;

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
        core_api_(rpc::NewDelegateClient(options.common.EndpointOf(options.core_api))),
        state_(core_api_, WantedState(options, authorizers_), revisions_, clock_),
        chain_(BuildAuthenticatorChain(options.authentication, state_.Tokens(), clock_)),
        authorizer_(BuildAuthorizerChain(authorizers_, options.authorization,
                                         {state_.Rbac(), state_.Graph(), [this] { return state_.Loaded(); }}, clock_)),
        authn_(chain_.authenticator, chain_.api_audiences, revisions_, io_.get_executor(), clock_),
        authz_(authorizer_, revisions_, io_.get_executor()),
        envoy_(chain_.authenticator, authorizer_, chain_.api_audiences, io_.get_executor()) {
    if (chain_.token_cache) {
      revisions_->BeforeBump([cache = chain_.token_cache](const Revisions::Change& change) {
        if (change.authentication) cache->Clear();
      });
    }
    server_ = std::make_unique<rpc::GrpcServer>(options.common.Listeners(), std::vector<grpc::Service*>{&authn_, &authz_, &envoy_});
    server_->SetServing(false);
    state_.OnLoaded([this] {
      log::Info("state loaded: ready");
      server_->SetServing(true);
    });
    state_.Start(io_.get_executor());
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { io_.run(); });
  }

  ~ServerImpl() override { Stop(); }

  int Port(std::size_t listener) const override { return server_->Port(listener); }
  std::string WhyNotReady() const override { return state_.WhyNotLoaded(); }

  void Stop() override {
    if (threads_.empty()) return;
    server_->SetServing(false);
    server_->Shutdown(std::chrono::seconds(1));
    state_.Stop();
    work_.reset();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  const Clock& clock_;
  const std::vector<AuthorizerConfig> authorizers_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<rpc::DelegateClient> core_api_;
  ClusterState state_;
  const AuthenticatorChain chain_;
  const std::shared_ptr<Authorizer> authorizer_;
  AuthnService authn_;
  AuthzService authz_;
  EnvoyService envoy_;
  std::unique_ptr<rpc::GrpcServer> server_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Server> Server::Start(const Options& options) { return std::make_unique<ServerImpl>(options); }

}  // namespace apimesh::authn_authz
