#include "services/authn-authz/rpc/authn_service.h"

#include "lib/base/log.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/methods.h"
#include "services/authn-authz/rpc/convert.h"

namespace apimesh::authn_authz {
namespace {

constexpr auto kLongestReuse = std::chrono::milliseconds(10'000);

}  // namespace

AuthnService::AuthnService(std::shared_ptr<Authenticator> authenticator, std::vector<std::string> api_audiences,
                           std::shared_ptr<Revisions> revisions, const Clock& clock)
    : authenticator_(std::move(authenticator)),
      api_audiences_(std::move(api_audiences)),
      revisions_(std::move(revisions)),
      clock_(clock) {}

void AuthnService::AddTo(grpc::Methods& methods) {
  using mesh::v1::AuthenticateRequest;
  using mesh::v1::AuthenticateResponse;
  methods.AddUnary(mesh::methods::kAuthenticate,
                   grpc::Typed<AuthenticateRequest, AuthenticateResponse>(
                       [this](AuthenticateRequest request) { return Authenticate(std::move(request)); }));
}

Task<mesh::v1::AuthenticateResponse> AuthnService::Authenticate(mesh::v1::AuthenticateRequest request) {
  auto credentials = std::make_shared<Credentials>();
  for (const auto& header : request.headers()) credentials->headers.emplace_back(header.name(), header.value());
  credentials->peer_certificates.assign(request.peer_certificates().begin(), request.peer_certificates().end());
  credentials->path = request.path();
  credentials->audiences.assign(request.audiences().begin(), request.audiences().end());
  if (credentials->audiences.empty()) credentials->audiences = api_audiences_;
  mesh::v1::AuthenticateResponse response;
  response.set_revision(revisions_->Current());
  auto answer = co_await authenticator_->Authenticate(std::move(credentials));
  if (!answer) {
    response.set_outcome(mesh::v1::AuthenticateResponse::REFUSED);
    response.set_reason(answer.error().Message());
    if (log::Enabled(log::Level::kDebug)) {
      log::Write(log::Level::kDebug, "unable to authenticate the request: " + answer.error().Message(),
                 request.audit_id());
    }
    co_return response;
  }
  if (!*answer) {
    response.set_outcome(mesh::v1::AuthenticateResponse::NO_CREDENTIALS);
    co_return response;
  }
  Authenticated& who = **answer;
  response.set_outcome(mesh::v1::AuthenticateResponse::AUTHENTICATED);
  ToProto(who.user, response.mutable_user());
  for (std::string& audience : who.audiences) response.add_audiences(std::move(audience));
  std::chrono::milliseconds reuse = kLongestReuse;
  if (who.expires != WallTime::max()) {
    reuse = std::min(reuse, std::chrono::duration_cast<std::chrono::milliseconds>(who.expires - clock_.Now()));
  }
  // Caches use the credentials as key, not the path.
  if (who.for_this_path_only) reuse = std::chrono::milliseconds(0);
  response.set_cache_milliseconds(static_cast<std::uint32_t>(std::max(reuse, std::chrono::milliseconds(0)).count()));
  co_return response;
}

}  // namespace apimesh::authn_authz
