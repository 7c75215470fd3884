#include "services/aggregator/apiservices/external_server.h"

#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/service/reverse_proxy.h"

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kLongestQuestion{5};

http::ClientOptions ClientOptionsOf(const ExternalOptions& options) {
  http::ClientOptions made;
  made.ca_pem = options.ca_pem;
  made.cert_file = options.cert_file;
  made.key_file = options.key_file;
  made.server_name = fmt::format("{}.{}.svc", options.service.name, options.service.ns);
  made.insecure_skip_verify = options.insecure_skip_verify;
  return made;
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~!$&'*+").find(c) != std::string_view::npos) {
      escaped += static_cast<char>(std::tolower(byte));
    } else {
      escaped += fmt::format("%{:02x}", byte);
    }
  }
  return escaped;
}

/// PassedOn() has removed what the client itself said about its identity.
void AddUser(const meta::UserInfo& user, http::Headers& headers) {
  headers.emplace_back("x-remote-user", user.name);
  if (!user.uid.empty()) headers.emplace_back("x-remote-uid", user.uid);
  for (const std::string& group : user.groups) headers.emplace_back("x-remote-group", group);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) headers.emplace_back("x-remote-extra-" + Escape(key), value);
  }
}

rpc::Response Unavailable(std::string text) {
  rpc::Response response;
  response.code = 503;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}, {"x-content-type-options", "nosniff"}};
  response.body.emplace_back(std::move(text) + "\n");
  return response;
}

std::string EncodePath(std::string_view path) {
  std::string encoded;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~/:@!$&'()*+,;=").find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", byte);
    }
  }
  return encoded;
}

/// Cookies would be set for, and sent to, the host of the API server, which serves other backends as well.
void DropCookies(http::Headers& headers) {
  std::erase_if(headers, [](const auto& header) { return header.first == "cookie" || header.first == "set-cookie"; });
}

service::Outgoing MakeOutgoing(const std::string& host, rpc::Request request, bool upgrade) {
  service::Outgoing outgoing;
  outgoing.method = request.method;
  outgoing.url = fmt::format("https://{}{}{}{}", host, EncodePath(request.path), request.query.empty() ? "" : "?", request.query);
  outgoing.headers = service::PassedOn(request.headers, upgrade);
  // Compression is between us and the client.
  std::erase_if(outgoing.headers, [](const auto& header) { return header.first == "accept-encoding" || header.first.starts_with("x-forwarded-"); });
  DropCookies(outgoing.headers);
  AddUser(request.user, outgoing.headers);
  const std::string ip = request.remote_address.substr(0, request.remote_address.rfind(':'));
  if (!ip.empty()) outgoing.headers.emplace_back("x-forwarded-for", ip);
  if (!request.audit_id.empty()) outgoing.headers.emplace_back("audit-id", request.audit_id);
  if (!request.traceparent.empty()) outgoing.headers.emplace_back("traceparent", request.traceparent);
  outgoing.body = std::move(request.body);
  outgoing.deadline = request.deadline;
  return outgoing;
}

/// A redirect would make the client send its credentials to a server of the backend's choice.
rpc::Response RedirectRefused() {
  rpc::Response response;
  response.code = 502;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}};
  response.body.emplace_back(std::string("the backend attempted to redirect this request, which is not permitted"));
  return response;
}

/// Passes an answer on to the client, unless it is a redirect.
class AnswerStream final : public rpc::ResponseStream {
 public:
  explicit AnswerStream(rpc::ResponseStream& stream) : stream_(stream) {}
  Task<bool> WriteHead(int code, rpc::Headers headers) override {
    if (service::IsRedirect(code, headers)) {
      rpc::Response refusal = RedirectRefused();
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
  rpc::ResponseStream& stream_;
};

Task<> Send(rpc::Response response, rpc::ResponseStream& stream) {
  const bool open = co_await stream.WriteHead(response.code, std::move(response.headers));
  if (open) co_await stream.Write(std::move(response.body));
}

}  // namespace

ExternalServer::ExternalServer(ExternalOptions options)
    : options_(std::move(options)), client_(http::NewClient(ClientOptionsOf(options_))) {}

void ExternalServer::SetHosts(std::vector<std::string> hosts) {
  const std::lock_guard lock(mutex_);
  hosts_ = std::move(hosts);
}

std::string ExternalServer::PickHost() const {
  const std::lock_guard lock(mutex_);
  return hosts_.empty() ? "" : hosts_[next_host_++ % hosts_.size()];
}

Task<meta::Result<http::ClientResponse>> ExternalServer::Ask(std::string path, std::string accept) const {
  const std::string url = fmt::format("https://{}{}", PickHost(), path);
  http::Headers headers = {{"accept", std::move(accept)}, {"x-remote-user", "system:kube-aggregator"}, {"x-remote-group", "system:masters"}};
  const auto answer = co_await client_->Do("GET", url, std::move(headers), "", Clock::System().Steady() + kLongestQuestion);
  if (!answer) co_return meta::ServiceUnavailable(fmt::format("failing or missing response from {}: Get \"{}\": {}", url, url, answer.error().message), 0);
  if (answer->code < 200 || answer->code >= 300) {
    co_return meta::ServiceUnavailable(fmt::format("failing or missing response from {}: bad status from {}: {}", url, url, answer->code), 0);
  }
  co_return *answer;
}

Task<rpc::Response> ExternalServer::Call(rpc::Request&& request) {
  const std::string host = PickHost();
  if (host.empty()) co_return Unavailable("service unavailable");
  service::Outgoing outgoing = MakeOutgoing(host, std::move(request), false);
  auto answer = co_await client_->Do(std::move(outgoing.method), std::move(outgoing.url), std::move(outgoing.headers), std::move(outgoing.body),
                                     outgoing.deadline);
  if (!answer) co_return Unavailable("error trying to reach service: " + answer.error().message);
  if (service::IsRedirect(answer->code, answer->headers)) co_return RedirectRefused();
  service::CleanAnswer(answer->headers, false);
  DropCookies(answer->headers);
  rpc::Response response;
  response.code = answer->code;
  response.headers = std::move(answer->headers);
  response.body.emplace_back(std::move(answer->body));
  co_return response;
}

Task<> ExternalServer::Stream(rpc::Request request, rpc::ResponseStream& stream) {
  const std::string host = PickHost();
  if (host.empty()) {
    co_await Send(Unavailable("service unavailable"), stream);
    co_return;
  }
  service::Outgoing outgoing = MakeOutgoing(host, std::move(request), false);
  AnswerStream answer(stream);
  const http::ClientResult<> sent = co_await service::StreamTo(client_, std::move(outgoing), answer);
  if (!sent) co_await Send(Unavailable("error trying to reach service: " + sent.error().message), stream);
}

Task<rpc::Connection> ExternalServer::Connect(rpc::Request request) {
  rpc::Connection none;
  const std::string host = PickHost();
  if (host.empty()) {
    none.head = Unavailable("service unavailable");
    co_return none;
  }
  service::Outgoing outgoing = MakeOutgoing(host, std::move(request), true);
  auto connection = co_await service::ConnectTo(client_, std::move(outgoing));
  if (connection) {
    DropCookies(connection->head.headers);
    co_return std::move(*connection);
  }
  none.head = Unavailable(connection.error().message);
  co_return none;
}

}  // namespace apimesh::aggregator
