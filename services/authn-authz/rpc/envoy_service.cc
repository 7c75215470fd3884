#include "services/authn-authz/rpc/envoy_service.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "lib/grpc/typed_call.h"
#include "lib/meta/request/request_info.h"
#include "lib/meta/selectors/query.h"
#include "services/authn-authz/authorizers/denial.h"
#include "services/authn-authz/rpc/convert.h"

namespace apimesh::authn_authz {
namespace {

namespace v3 = envoy::service::auth::v3;
constexpr int kPermissionDenied = 7, kUnauthenticated = 16;  // google.rpc.Code

void Deny(const meta::ApiError& error, v3::CheckResponse* response) {
  response->mutable_status()->set_code(error.Code() == 401 ? kUnauthenticated : kPermissionDenied);
  v3::DeniedHttpResponse* denied = response->mutable_denied_response();
  denied->mutable_status()->set_code(error.Code());
  denied->set_body(boost::json::serialize(error.ToStatus()));
  v3::HeaderValue* header = denied->add_headers()->mutable_header();
  header->set_key("content-type");
  header->set_value("application/json");
}

std::vector<std::string> Certificates(const std::string& encoded) {
  std::vector<std::string> certificates;
  const std::optional<std::string> pem = meta::PercentDecode(encoded, false);
  if (!pem || pem->empty()) return certificates;
  BIO* bio = BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size()));
  while (X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate, &der);
    if (size > 0) certificates.emplace_back(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    X509_free(certificate);
  }
  ERR_clear_error();
  BIO_free_all(bio);
  return certificates;
}

std::vector<std::pair<std::string, std::string>> HeadersOf(const v3::HttpRequest& http) {
  std::vector<std::pair<std::string, std::string>> headers(http.headers().begin(), http.headers().end());
  for (const v3::HeaderValue& header : http.header_map().headers()) {
    headers.emplace_back(header.key(), header.raw_value().empty() ? header.value() : header.raw_value());
  }
  return headers;
}

Attributes ToAttributes(meta::UserInfo user, const meta::RequestInfo& info) {
  Attributes out;
  out.user = std::move(user);
  out.is_resource_request = info.is_resource_request;
  out.verb = info.verb;
  out.ns = info.ns;
  out.api_group = info.api_group;
  out.api_version = info.api_version;
  out.resource = info.resource;
  out.subresource = info.subresource;
  out.name = info.name;
  out.path = info.path;
  ParseSelectors(info.field_selector, info.label_selector, out);
  return out;
}

}  // namespace

EnvoyService::EnvoyService(std::shared_ptr<Authenticator> authenticator, std::shared_ptr<Authorizer> authorizer,
                           std::vector<std::string> api_audiences)
    : authenticator_(std::move(authenticator)),
      authorizer_(std::move(authorizer)),
      api_audiences_(std::move(api_audiences)) {}

void EnvoyService::AddTo(grpc::Methods& methods) {
  methods.AddUnary("/envoy.service.auth.v3.Authorization/Check",
                   grpc::Typed<v3::CheckRequest, v3::CheckResponse>(
                       [this](v3::CheckRequest request) { return Check(std::move(request)); }));
}

Task<v3::CheckResponse> EnvoyService::Check(v3::CheckRequest request) {
  v3::CheckResponse response;
  co_await Answer(request, &response);
  co_return response;
}

Task<> EnvoyService::Answer(const v3::CheckRequest& request, v3::CheckResponse* response) {
  const v3::HttpRequest& http = request.attributes().request().http();
  const std::size_t question = http.path().find('?');
  const std::optional<std::string> path = meta::PercentDecode(std::string_view(http.path()).substr(0, question), false);
  if (!path) {
    Deny(meta::BadRequest("invalid path"), response);
    co_return;
  }
  auto credentials = std::make_shared<Credentials>();
  credentials->headers = HeadersOf(http);
  const auto& headers = credentials->headers;
  const bool impersonates = std::any_of(headers.begin(), headers.end(),
                                        [](const auto& header) { return header.first.starts_with("impersonate-"); });
  credentials->peer_certificates = Certificates(request.attributes().source().certificate());
  credentials->path = *path;
  credentials->audiences = api_audiences_;

  // Envoy sends only the leaf of a chain. A certificate that can't be verified here may still be valid for the
  // aggregator, which receives the complete chain.
  const bool by_certificate = !credentials->peer_certificates.empty() && credentials->Header("authorization").empty();
  auto answer = co_await authenticator_->Authenticate(std::move(credentials));
  if (!answer && by_certificate) {
    response->mutable_ok_response();
    co_return;
  }
  if (!answer || !*answer) {
    Deny(meta::Unauthorized(), response);
    co_return;
  }
  if (!impersonates) {
    const std::string query = question == std::string::npos ? "" : http.path().substr(question + 1);
    const meta::RequestInfo info = meta::ParseRequestInfo(http.method(), *path, query);
    const auto attributes = std::make_shared<const Attributes>(ToAttributes(std::move((*answer)->user), info));
    std::optional<Decision> decision = authorizer_->DecideNow(*attributes);
    if (!decision) decision = co_await authorizer_->Decide(attributes);
    if (decision->verdict != Decision::Verdict::kAllow) {
      std::string why = DenialText(*attributes);
      if (!decision->reason.empty()) why += ": " + decision->reason;
      Deny(meta::Forbidden({attributes->api_group, attributes->resource}, attributes->name, why), response);
      co_return;
    }
  }
  response->mutable_status()->set_code(0);
  response->mutable_ok_response();
}

}  // namespace apimesh::authn_authz
