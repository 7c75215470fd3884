#include "services/authn-authz/rpc/authn_service.h"

#include "lib/base/log.h"
#include "services/authn-authz/rpc/convert.h"
#include "services/authn-authz/rpc/finish.h"

namespace apimesh::authn_authz {
namespace {

constexpr auto kLongestReuse = std::chrono::milliseconds(10'000);

}  // namespace

AuthnService::AuthnService(std::shared_ptr<Authenticator> authenticator, std::vector<std::string> api_audiences,
                           std::shared_ptr<Revisions> revisions, boost::asio::any_io_executor executor, const Clock& clock)
    : authenticator_(std::move(authenticator)), api_audiences_(std::move(api_audiences)), revisions_(std::move(revisions)),
      executor_(std::move(executor)), clock_(clock) {}

grpc::ServerUnaryReactor* AuthnService::Authenticate(grpc::CallbackServerContext* context,
                                                     const mesh::v1::AuthenticateRequest* request,
                                                     mesh::v1::AuthenticateResponse* response) {
  auto credentials = std::make_shared<Credentials>();
  for (const auto& header : request->headers()) credentials->headers.emplace_back(header.name(), header.value());
  credentials->peer_certificates.assign(request->peer_certificates().begin(), request->peer_certificates().end());
  credentials->path = request->path();
  credentials->audiences.assign(request->audiences().begin(), request->audiences().end());
  if (credentials->audiences.empty()) credentials->audiences = api_audiences_;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  boost::asio::co_spawn(executor_, Answer(this, std::move(credentials), request->audit_id(), response), FinishWhenDone(reactor));
  return reactor;
}

Task<> AuthnService::Answer(AuthnService* service, CredentialsPtr credentials, std::string audit_id,
                            mesh::v1::AuthenticateResponse* response) {
  response->set_revision(service->revisions_->Current());
  auto answer = co_await service->authenticator_->Authenticate(std::move(credentials));
  if (!answer) {
    response->set_outcome(mesh::v1::AuthenticateResponse::REFUSED);
    response->set_reason(answer.error().Message());
    if (log::Enabled(log::Level::kDebug)) {
      log::Write(log::Level::kDebug, "unable to authenticate the request: " + answer.error().Message(), audit_id);
    }
    co_return;
  }
  if (!*answer) {
    response->set_outcome(mesh::v1::AuthenticateResponse::NO_CREDENTIALS);
    co_return;
  }
  Authenticated& who = **answer;
  response->set_outcome(mesh::v1::AuthenticateResponse::AUTHENTICATED);
  ToProto(who.user, response->mutable_user());
  for (std::string& audience : who.audiences) response->add_audiences(std::move(audience));
  std::chrono::milliseconds reuse = kLongestReuse;
  if (who.expires != WallTime::max()) {
    reuse = std::min(reuse, std::chrono::duration_cast<std::chrono::milliseconds>(who.expires - service->clock_.Now()));
  }
  response->set_cache_milliseconds(static_cast<std::uint32_t>(std::max(reuse, std::chrono::milliseconds(0)).count()));
}

}  // namespace apimesh::authn_authz
