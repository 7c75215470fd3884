#include "services/core-api/connect/proxy.h"

#include <fmt/format.h>

#include "lib/base/ip_address.h"
#include "lib/base/text/url.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/service/reverse_proxy.h"

namespace apimesh::core_api {
namespace {

/// Splits the path of the request into the part up to and including ".../proxy" and the rest.
std::pair<std::string, std::string> SplitPath(const mesh::Request& request) {
  const std::string mark = "/" + request.info.name + "/" + request.info.subresource;
  const std::size_t found = request.path.find(mark);
  if (found == std::string::npos) return {request.path, ""};
  const std::size_t end = found + mark.size();
  return {request.path.substr(0, end), request.path.substr(end)};
}

service::Outgoing MakeOutgoing(const ProxyTarget& target, mesh::Request request, bool upgrade) {
  const auto [base, rest] = SplitPath(request);
  service::Outgoing outgoing;
  outgoing.method = request.method;
  outgoing.url = target.url + (rest.empty() ? "/" : EncodePath(rest));
  if (!request.query.empty()) outgoing.url += "?" + request.query;
  outgoing.headers = service::PassedOn(request.headers, upgrade);
  std::erase_if(outgoing.headers, [](const auto& header) { return header.first.starts_with("x-forwarded-"); });
  const std::string ip = request.remote_address.substr(0, request.remote_address.rfind(':'));
  if (!ip.empty()) outgoing.headers.emplace_back("x-forwarded-for", ip);
  outgoing.headers.emplace_back("x-forwarded-uri", request.path);
  if (const std::string_view host = request.Header("host"); !host.empty())
    outgoing.headers.emplace_back("x-forwarded-host", host);
  outgoing.headers.emplace_back("x-forwarded-proto", "https");
  outgoing.body = std::move(request.body);
  return outgoing;
}

meta::ApiError Unreachable(const http::ClientError& error) {
  using Code = http::ClientError::Code;
  if (error.code == Code::kAddressNotAllowed) return meta::BadRequest("address not allowed");
  if (error.code == Code::kLookup) return meta::BadRequest(error.message);
  return meta::ServiceUnavailable("error trying to reach service: " + error.message, 0);
}

meta::ApiError NotUpgraded(const http::ClientError& error) {
  if (error.code == http::ClientError::Code::kAddressNotAllowed) return meta::BadRequest("address not allowed");
  return meta::PlainError(error.message);
}

/// Rewrites redirects of the proxied server, so that clients that follow them stay behind the proxy.
class BehindProxy final : public mesh::ResponseStream {
 public:
  BehindProxy(mesh::ResponseStream& stream, std::string target, std::string base)
      : stream_(stream), target_(std::move(target)), base_(std::move(base)) {}
  Task<bool> WriteHead(int code, mesh::Headers headers) override {
    for (auto& [name, value] : headers) {
      if (name != "location") continue;
      if (value == target_ || value.starts_with(target_ + "/")) value.erase(0, target_.size());
      if (value.starts_with('/')) value.insert(0, base_);
    }
    return stream_.WriteHead(code, std::move(headers));
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return stream_.Write(std::move(pieces)); }
  void OnCancel(std::function<void()> callback) override { stream_.OnCancel(std::move(callback)); }
  void Abort() override { stream_.Abort(); }

 private:
  mesh::ResponseStream& stream_;
  const std::string target_, base_;
};

}  // namespace

std::optional<ProxiedName> ParseProxiedName(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  ProxiedName parsed;
  if (parts.size() > 3) return std::nullopt;
  if (parts.size() == 3) {
    parsed = {parts[0], parts[1], parts[2]};
  } else {
    parsed = {"", parts[0], parts.size() == 2 ? parts[1] : ""};
  }
  if (parsed.name.empty() || (!parsed.scheme.empty() && parsed.scheme != "http" && parsed.scheme != "https"))
    return std::nullopt;
  return parsed;
}

bool IsProxyable(std::string_view ip) {
  const std::optional<IpAddress> address = ParseIp(ip);
  return address && IsGlobalUnicast(*address);
}

http::ClientOptions ForProxies(http::ClientOptions options) {
  options.allow_address = &IsGlobalUnicast;
  return options;
}

Task<meta::Result<>> ProxyConnector::Forward(meta::RequestContext ctx, mesh::Request request,
                                             mesh::ResponseStream& stream) {
  ASSIGN_OR_CO_RETURN(const ProxyTarget target, co_await FindTarget(ctx, request.info.name));
  const auto [base, rest] = SplitPath(request);
  // Without the trailing slash, clients would resolve relative links in the page against the wrong path.
  if (rest.empty() && (request.method == "GET" || request.method == "HEAD")) {
    mesh::Headers headers;
    headers.emplace_back("location", request.path + "/" + (request.query.empty() ? "" : "?" + request.query));
    co_await stream.WriteHead(301, std::move(headers));
    co_return meta::Result<>();
  }
  BehindProxy behind(stream, target.url, base);
  service::Outgoing outgoing = MakeOutgoing(target, std::move(request), false);
  const http::ClientResult<> sent = co_await service::StreamTo(target.client, std::move(outgoing), behind);
  if (!sent) co_return Unreachable(sent.error());
  co_return meta::Result<>();
}

Task<meta::Result<>> ProxyConnector::Upgrade(meta::RequestContext ctx, mesh::Request request,
                                             mesh::ConnectStream& stream) {
  ASSIGN_OR_CO_RETURN(const ProxyTarget target, co_await FindTarget(ctx, request.info.name));
  service::Outgoing outgoing = MakeOutgoing(target, std::move(request), true);
  http::ClientResult<mesh::Connection> connection = co_await service::ConnectTo(target.client, std::move(outgoing));
  if (!connection) co_return NotUpgraded(connection.error());
  const bool open = co_await stream.Answer(std::move(connection->head));
  if (open && connection->stream) co_await service::Tunnel(stream, *connection->stream);
  co_return meta::Result<>();
}

std::shared_ptr<http::Client> NewClusterClient(const Clock& clock) {
  http::ClientOptions options{.clock = clock};
  options.tls.insecure_skip_verify = true;
  options.network = http::Network::kCluster;
  return http::NewClient(ForProxies(std::move(options)));
}

}  // namespace apimesh::core_api
