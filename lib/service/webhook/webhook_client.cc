#include "lib/service/webhook/webhook_client.h"

#include <filesystem>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/http/client_span.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/kubernetes_version.h"

namespace apimesh::service {
namespace {

namespace json = meta::json;
using Code = http::ClientError::Code;

constexpr std::size_t kMaxQuotedBytes = 2048;
constexpr std::size_t kMaxIdleConnections = 8;
constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string ServerName(const ServiceReference& service) { return fmt::format("{}.{}.svc", service.name, service.ns); }

http::ClientOptions ClientOptionsOf(const WebhookConfig& config, const Clock& clock) {
  http::ClientOptions options{.clock = clock};
  options.tls.ca_pem = config.ca_pem;
  if (config.service) options.tls.server_name = ServerName(*config.service);
  options.tls.cert_file = config.credentials.cert_file;
  options.tls.key_file = config.credentials.key_file;
  options.tls.cert_pem = config.credentials.cert_pem;
  options.tls.key_pem = config.credentials.key_pem;
  options.max_response_bytes = config.max_response_bytes;
  options.max_idle_connections = kMaxIdleConnections;
  options.network = config.service ? http::Network::kCluster : config.network_of_url;
  return options;
}

/// Splits "https://host:port/path?query#fragment" into the part before the path and the path. The query and the
/// fragment are not sent, as in kube-apiserver.
std::pair<std::string, std::string> SplitUrl(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::string whole = url.substr(0, url.find_first_of("?#", host));
  const std::size_t slash = whole.find('/', host);
  if (slash == std::string::npos) return {whole, ""};
  return {whole.substr(0, slash), whole.substr(slash)};
}

/// The shortest equivalent of a path, which is what kube-apiserver sends: "/hook" for "//hook/". envtest installs
/// webhooks with two slashes.
std::string CleanPath(const std::string& path) {
  std::string out = std::filesystem::path(path).lexically_normal().string();
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

/// Returns the cause of a failed exchange as Go prints it.
std::string CauseOf(const http::ClientError& error) {
  switch (error.code) {
    case Code::kTimeout: return "context deadline exceeded";
    case Code::kProtocol: return "EOF";
    case Code::kConnect:
      if (error.message.ends_with("Connection refused"))
        return error.message.substr(0, error.message.size() - 18) + "connect: connection refused";
      return error.message;
    case Code::kLookup: return "dial tcp: " + error.message;
    default: return error.message;
  }
}

}  // namespace

WebhookConfig ReadWebhookConfig(const json::object& client_config) {
  WebhookConfig config;
  config.url = meta::FindString(client_config, "url");
  std::string ca;
  if (!DecodeBase64(meta::FindString(client_config, "caBundle"), ca) && !Trimmed(ca).empty()) config.ca_pem = ca;
  const json::value* service = meta::FindField(client_config, "service");
  if (!service || !service->is_object()) return config;
  const json::object& fields = service->get_object();
  ServiceReference reference{std::string(meta::FindString(fields, "namespace")),
                             std::string(meta::FindString(fields, "name"))};
  if (const json::value* port = meta::FindField(fields, "port"); port && port->is_int64())
    reference.port = port->get_int64();
  config.path = meta::FindString(fields, "path");
  config.service = std::move(reference);
  return config;
}

WebhookClient::WebhookClient(WebhookConfig config, WebhookSources sources)
    : config_(std::move(config)),
      sources_(std::move(sources)),
      client_(sources_.http_client(ClientOptionsOf(config_, sources_.clock))) {}

Task<http::ClientResult<std::string>> WebhookClient::Post(std::string body, std::chrono::seconds timeout) const {
  WebhookResponse response = co_await PostUntil(std::move(body), sources_.clock.Steady() + timeout);
  if (!response.error.empty()) co_return http::ClientError{response.failure, std::move(response.error)};
  co_return std::move(response.body);
}

std::string HostPortOf(const WebhookConfig& config) {
  if (config.service) return fmt::format("{}:{}", ServerName(*config.service), config.service->port);
  const std::string base = SplitUrl(config.url).first;
  const std::size_t scheme = base.find("://");
  const std::string host = scheme == std::string::npos ? base : base.substr(scheme + 3);
  const std::size_t bracket = host.rfind(']');  // the end of an IPv6 address
  const bool has_port = host.find(':', bracket == std::string::npos ? 0 : bracket) != std::string::npos;
  return has_port ? host : host + ":443";
}

Task<WebhookResponse> WebhookClient::PostUntil(std::string body, SteadyTime deadline) const {
  tracing::Carrier none;
  return PostUntil(std::move(body), deadline, std::move(none));
}

Task<WebhookResponse> WebhookClient::PostUntil(std::string body, SteadyTime deadline, tracing::Carrier trace) const {
  http::Headers headers = {{"accept", "application/json, */*"},
                           {"content-type", "application/json"},
                           {"user-agent", config_.user_agent.empty() ? meta::OwnUserAgent() : config_.user_agent}};
  headers.insert(headers.end(), config_.credentials.headers.begin(), config_.credentials.headers.end());
  std::string base, path;
  if (config_.service) {
    base = fmt::format("https://{}:{}", ServerName(*config_.service), config_.service->port);
    path = config_.path.starts_with('/') || config_.path.empty() ? config_.path : "/" + config_.path;
  } else {
    std::tie(base, path) = SplitUrl(config_.url);
  }
  path = CleanPath(path);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(deadline - sources_.clock.Steady());
  std::string rest = path.empty() && config_.sends_timeout ? "/" : path;
  if (config_.sends_timeout) rest += fmt::format("?timeout={}s", seconds.count());
  const std::string shown = fmt::format("Post \"{}{}\": ", base, rest);
  std::string url = base + rest;
  if (config_.service) {
    const meta::Result<std::string> address = co_await sources_.resolve(*config_.service);
    if (!address) co_return WebhookResponse{0, "", "", shown + address.error().Message(), Code::kLookup};
    headers.emplace_back("host", base.substr(std::string_view("https://").size()));
    url = fmt::format("https://{}{}", *address, rest);
  }
  http::ClientSpan span(trace, "POST", base + rest, headers);
  auto response = co_await client_->Do("POST", std::move(url), std::move(headers), std::move(body), deadline);
  if (response) {
    span.Finish(response->code);
  } else {
    span.Fail(shown + CauseOf(response.error()));
  }
  if (!response) co_return WebhookResponse{0, "", "", shown + CauseOf(response.error()), response.error().code};
  WebhookResponse made{response->code, std::move(response->body), std::string(response->Header("content-type"))};
  if (!made.Accepted()) {
    made.error = RestErrorMessage(made.code, made.content_type, made.body);
  } else if (made.body.empty()) {
    made.error =
        fmt::format("0-length response with status code: {} and content type: {}", made.code, made.content_type);
  }
  co_return made;
}

std::string RestErrorMessage(int code, std::string_view content_type, std::string_view body) {
  // A Status of the API is reported in its own words.
  if (const auto parsed = codec::ParseJson(body, meta::NewArena()); parsed && parsed->is_object()) {
    const json::object& status = parsed->get_object();
    if (meta::FindString(status, "kind") == "Status" && meta::FindString(status, "status") != "Success" &&
        !meta::FindString(status, "message").empty())
      return std::string(meta::FindString(status, "message"));
  }
  const bool is_text = content_type.empty() || content_type.starts_with("text/");
  const std::string said(is_text ? Trimmed(body.substr(0, kMaxQuotedBytes)) : std::string_view("unknown"));
  switch (code) {
    case 400: return "the server rejected our request for an unknown reason";
    case 401: return "the server has asked for the client to provide credentials";
    case 403:
    case 415: return said;
    case 404: return "the server could not find the requested resource";
    case 405: return "the server does not allow this method on the requested resource";
    case 406:
      return said.empty() || said == "unknown"
                 ? "the server was unable to respond with a content type that the client supports"
                 : said;
    case 409: return "the server reported a conflict";
    case 422: return "the server rejected our request due to an error in our request";
    case 429: return "the server has received too many requests and has asked us to try again later";
    case 503: return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be processing the request";
    default: break;
  }
  if (code >= 500)
    return fmt::format("an error on the server ({}) has prevented the request from succeeding", meta::Quoted(said));
  return fmt::format("the server responded with the status code {} but did not return more information", code);
}

}  // namespace apimesh::service
