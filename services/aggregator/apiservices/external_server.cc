#include "services/aggregator/apiservices/external_server.h"

#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/base/text/text.h"
#include "lib/base/text/url.h"
#include "lib/http/client_span.h"
#include "lib/service/reverse_proxy.h"
#include "lib/tracing/tracer.h"

namespace apimesh::aggregator {
namespace {

/// The largest document of a backend that becomes a part of the documents for all clients. That of 1,000 resources has
/// 300 kB.
constexpr std::size_t kMaxDocumentBytes = 1 << 20;
constexpr std::chrono::seconds kLongestQuestion{5}, kLongestDownload{60};

http::ClientOptions ClientOptionsOf(const ExternalOptions& options, const Clock& clock) {
  http::ClientOptions made{.clock = clock};
  made.tls.ca_pem = options.ca_pem;
  made.tls.cert_file = options.cert_file;
  made.tls.key_file = options.key_file;
  made.tls.server_name = fmt::format("{}.{}.svc", options.service.name, options.service.ns);
  made.tls.insecure_skip_verify = options.insecure_skip_verify;
  made.network = http::Network::kCluster;
  return made;
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~!$&'*+").find(c) != std::string_view::npos) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02x}", byte);
    }
  }
  return LowerCase(escaped);
}

/// Adds the X-Remote headers. PassedOn() has already removed the identity headers of the client.
void AddUser(const meta::UserInfo& user, http::Headers& headers) {
  headers.emplace_back("x-remote-user", user.name);
  if (!user.uid.empty()) headers.emplace_back("x-remote-uid", user.uid);
  for (const std::string& group : user.groups) headers.emplace_back("x-remote-group", group);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) headers.emplace_back("x-remote-extra-" + Escape(key), value);
  }
}

mesh::Response Unavailable(std::string text) {
  mesh::Response response;
  response.code = 503;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}, {"x-content-type-options", "nosniff"}};
  response.body.emplace_back(std::move(text) + "\n");
  return response;
}

tracing::Carrier TraceOf(const mesh::Request& request) {
  return {.span = tracing::Remote(request.traceparent), .unrecorded = request.traceparent};
}

/// Removes cookies. The client would store them for, and send them to, the host of the API server, which also serves
/// other backends.
void DropCookies(http::Headers& headers) {
  std::erase_if(headers, [](const auto& header) { return header.first == "cookie" || header.first == "set-cookie"; });
}

/// Replaced by the context of this server.
bool IsTrace(std::string_view name) { return name == "traceparent" || name == "tracestate"; }

service::Outgoing MakeOutgoing(const std::string& host, mesh::Request request, bool upgrade) {
  service::Outgoing outgoing;
  outgoing.method = request.method;
  outgoing.url =
      fmt::format("https://{}{}{}{}", host, EncodePath(request.path), request.query.empty() ? "" : "?", request.query);
  outgoing.headers = service::PassedOn(request.headers, upgrade);
  // Responses are compressed by the edge, not by the backend.
  std::erase_if(outgoing.headers, [](const auto& header) {
    return header.first == "accept-encoding" || header.first.starts_with("x-forwarded-") || IsTrace(header.first);
  });
  DropCookies(outgoing.headers);
  AddUser(request.user, outgoing.headers);
  const std::string ip = request.remote_address.substr(0, request.remote_address.rfind(':'));
  if (!ip.empty()) outgoing.headers.emplace_back("x-forwarded-for", ip);
  if (!request.audit_id.empty()) outgoing.headers.emplace_back("audit-id", request.audit_id);
  outgoing.body = std::move(request.body);
  outgoing.deadline = request.deadline;
  return outgoing;
}

/// The response if the backend sends a redirect, which would make the client send its credentials to a server that the
/// backend chooses.
mesh::Response RedirectRefused() {
  mesh::Response response;
  response.code = 502;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}};
  response.body.emplace_back(std::string("the backend attempted to redirect this request, which is not permitted"));
  return response;
}

/// Forwards a response to the client unless it is a redirect.
class AnswerStream final : public mesh::ResponseStream {
 public:
  AnswerStream(mesh::ResponseStream& stream, bool reject_redirects)
      : stream_(stream), reject_redirects_(reject_redirects) {}
  /// The status of the response; 0 if there is none.
  int Code() const { return code_; }
  Task<bool> WriteHead(int code, mesh::Headers headers) override {
    code_ = code;
    if (reject_redirects_ && service::IsRedirect(code, headers)) {
      mesh::Response refusal = RedirectRefused();
      const bool open = co_await stream_.WriteHead(refusal.code, std::move(refusal.headers));
      if (open) co_await stream_.Write(std::move(refusal.body));
      co_return false;
    }
    DropCookies(headers);
    co_return co_await stream_.WriteHead(code, std::move(headers));
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return stream_.Write(std::move(pieces)); }
  void OnCancel(std::function<void()> callback) override { stream_.OnCancel(std::move(callback)); }
  void Abort() override { stream_.Abort(); }

 private:
  mesh::ResponseStream& stream_;
  const bool reject_redirects_;
  int code_ = 0;
};

Task<> Send(mesh::Response response, mesh::ResponseStream& stream) {
  const bool open = co_await stream.WriteHead(response.code, std::move(response.headers));
  if (open) co_await stream.Write(std::move(response.body));
}

}  // namespace

ExternalServer::ExternalServer(ExternalOptions options, std::shared_ptr<mesh::DelegateClient> core_api,
                               bool endpoint_routing, std::shared_ptr<OpenApiCopy> openapi,
                               boost::asio::any_io_executor parser, const Clock& clock)
    : options_(std::move(options)),
      core_api_(std::move(core_api)),
      endpoint_routing_(endpoint_routing),
      openapi_(std::move(openapi)),
      parser_(std::move(parser)),
      clock_(clock),
      client_(http::NewClient(ClientOptionsOf(options_, clock))) {}

Task<Backend::State> ExternalServer::Check() {
  service::ServicePlaces places =
      co_await service::CheckService(core_api_, options_.service, endpoint_routing_, clock_);
  State state;
  state.status = std::move(places.status);
  state.reason = std::move(places.reason);
  state.message = std::move(places.message);
  if (!places.hosts.empty()) {
    SetHosts(places.hosts);
    const std::string path = fmt::format("/apis/{}/{}", options_.group, options_.version);
    const meta::Result<http::ClientResponse> answer = co_await Ask(path);
    if (answer && answer->body.size() > kMaxDocumentBytes) {
      state.reason = "FailedDiscoveryCheck";
      state.message = fmt::format("the response to {} has {} bytes, which are more than {}", path, answer->body.size(),
                                  kMaxDocumentBytes);
    } else if (answer) {
      state.resource_list = answer->body;
      state.status = "True";
      state.reason = "Passed";
      state.message = "all checks passed";
    } else {
      state.reason = "FailedDiscoveryCheck";
      state.message = answer.error().Message();
    }
  }
  if (state.status != "True") SetHosts({});
  state.openapi_hash = openapi_->Hash();
  state.openapi_version = openapi_->Version();
  co_return state;
}

Task<std::string> ExternalServer::RefreshOpenApi() {
  const std::string host = PickHost();
  if (host.empty()) co_return "no address";
  OpenApiCopy::AskFn ask = [this, host](OpenApiCopy::Question question) {
    http::Headers headers = {{"accept", std::move(question.accept)}, {"x-remote-user", "system:aggregator"}};
    if (!question.etag.empty()) headers.emplace_back("if-none-match", std::move(question.etag));
    return client_->Do("GET", fmt::format("https://{}{}", host, question.path), std::move(headers), "",
                       clock_.Steady() + kLongestDownload);
  };
  co_return co_await openapi_->Refresh(std::move(ask), parser_);
}

void ExternalServer::SetHosts(std::vector<std::string> hosts) {
  const std::lock_guard lock(mutex_);
  hosts_ = std::move(hosts);
}

std::string ExternalServer::PickHost() const {
  const std::lock_guard lock(mutex_);
  return hosts_.empty() ? "" : hosts_[next_host_++ % hosts_.size()];
}

Task<meta::Result<http::ClientResponse>> ExternalServer::Ask(std::string path) const {
  const std::string url = fmt::format("https://{}{}", PickHost(), path);
  http::Headers headers = {{"accept", "application/json"},
                           {"x-remote-user", "system:kube-aggregator"},
                           {"x-remote-group", "system:masters"}};
  const auto answer = co_await client_->Do("GET", url, std::move(headers), "", clock_.Steady() + kLongestQuestion);
  if (!answer)
    co_return meta::ServiceUnavailable(
        fmt::format("failing or missing response from {}: Get \"{}\": {}", url, url, answer.error().message), 0);
  if (answer->code < 200 || answer->code >= 300) {
    co_return meta::ServiceUnavailable(
        fmt::format("failing or missing response from {}: bad status from {}: {}", url, url, answer->code), 0);
  }
  co_return *answer;
}

Task<mesh::Response> ExternalServer::Call(mesh::Request&& request) {
  if (std::optional<mesh::Response> answer = openapi_->Answer(request)) co_return std::move(*answer);
  const std::string host = PickHost();
  if (host.empty()) co_return Unavailable("service unavailable");
  const tracing::Carrier trace = TraceOf(request);
  service::Outgoing outgoing = MakeOutgoing(host, std::move(request), false);
  http::ClientSpan span(trace, outgoing.method, outgoing.url, outgoing.headers);
  auto answer = co_await client_->Do(std::move(outgoing.method), std::move(outgoing.url), std::move(outgoing.headers),
                                     std::move(outgoing.body), outgoing.deadline);
  if (!answer) {
    span.Fail(answer.error().message);
    co_return Unavailable("error trying to reach service: " + answer.error().message);
  }
  span.Finish(answer->code);
  if (options_.reject_redirects && service::IsRedirect(answer->code, answer->headers)) co_return RedirectRefused();
  service::CleanAnswer(answer->headers, false);
  DropCookies(answer->headers);
  mesh::Response response;
  response.code = answer->code;
  response.headers = std::move(answer->headers);
  response.body.emplace_back(std::move(answer->body));
  co_return response;
}

Task<> ExternalServer::Stream(mesh::Request request, mesh::ResponseStream& stream) {
  if (std::optional<mesh::Response> answer = openapi_->Answer(request)) {
    co_await stream.WriteComplete(std::move(*answer));
    co_return;
  }
  const std::string host = PickHost();
  if (host.empty()) {
    co_await Send(Unavailable("service unavailable"), stream);
    co_return;
  }
  const tracing::Carrier trace = TraceOf(request);
  service::Outgoing outgoing = MakeOutgoing(host, std::move(request), false);
  http::ClientSpan span(trace, outgoing.method, outgoing.url, outgoing.headers);
  AnswerStream answer(stream, options_.reject_redirects);
  const http::ClientResult<> sent = co_await service::StreamTo(client_, std::move(outgoing), answer);
  if (sent) {
    span.Finish(answer.Code());
  } else {
    span.Fail(sent.error().message);
  }
  if (!sent) co_await Send(Unavailable("error trying to reach service: " + sent.error().message), stream);
}

Task<mesh::Connection> ExternalServer::Connect(mesh::Request request) {
  mesh::Connection none;
  const std::string host = PickHost();
  if (host.empty()) {
    none.head = Unavailable("service unavailable");
    co_return none;
  }
  const tracing::Carrier trace{.span = nullptr, .unrecorded = request.traceparent};
  service::Outgoing outgoing = MakeOutgoing(host, std::move(request), true);
  trace.AddTo(outgoing.headers);
  auto connection = co_await service::ConnectTo(client_, std::move(outgoing));
  if (connection) {
    DropCookies(connection->head.headers);
    co_return std::move(*connection);
  }
  none.head = Unavailable(connection.error().message);
  co_return none;
}

}  // namespace apimesh::aggregator
