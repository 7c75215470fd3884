#include "services/aggregator/routes/generic_routes.h"

#include "lib/codec/negotiation.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/service/chain.h"
#include "services/aggregator/delegation/mesh_request.h"
#include "services/aggregator/health/chain_health.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/metrics/joined_metrics.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kNotAllowed = "the server does not allow this method on the requested resource";
constexpr std::string_view kOpenApiV3 = "/openapi/v3/";

bool IsRead(const Exchange& exchange) { return exchange.request.method == "GET" || exchange.request.method == "HEAD"; }

// A substring search covers weak tags and lists; a hash does not occur by chance.
bool Matches(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

Task<> SendDocument(Exchange& exchange, SharedBytes bytes, std::string etag, std::string content_type) {
  http::Headers headers;
  if (!etag.empty()) {
    headers.emplace_back("vary", "Accept");
    headers.emplace_back("etag", etag);
  }
  std::vector<SharedBytes> body;
  if (!etag.empty() && Matches(exchange.request.Header("if-none-match"), etag)) {
    co_await exchange.reply.Send(304, std::move(headers), std::move(body));
    co_return;
  }
  headers.emplace_back("content-type", std::move(content_type));
  body.push_back(std::move(bytes));
  co_await exchange.reply.Send(200, std::move(headers), std::move(body));
}

// Sets the group and version of a path that ends with, for example, "apis/apps/v1", so that the request is routed to
// the server of that group-version.
void SetGroupVersion(Exchange& exchange, std::string_view rest) {
  if (rest.starts_with("apis/")) {
    rest.remove_prefix(5);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return;
    exchange.info.api_group = rest.substr(0, slash);
    exchange.info.api_version = rest.substr(slash + 1);
  } else if (rest.starts_with("api/")) {
    exchange.info.api_version = rest.substr(4);
  }
}

std::string WithoutTrailingSlash(const std::string& path) {
  return path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

}  // namespace

void GenericRoutes::Rebuild(const Routes& routes) {
  const std::shared_ptr<const DiscoveryDocuments> before = Documents();
  auto made = std::make_shared<const DiscoveryDocuments>(routes, parts_.server_address, before.get());
  const std::lock_guard lock(mutex_);
  documents_ = std::move(made);
}

std::shared_ptr<const DiscoveryDocuments> GenericRoutes::Documents() const {
  const std::lock_guard lock(mutex_);
  return documents_;
}

Task<> GenericRoutes::Handle(Exchange& exchange, Next) {
  const std::string& path = exchange.path;
  if (const std::optional<meta::ApiError> error = RouteDiscovery(exchange)) {
    co_await exchange.reply.SendError(*error);
  } else if (parts_.diagnostics->Serves(path)) {
    co_await parts_.diagnostics->Answer(exchange);
  } else if (exchange.info.is_resource_request || !IsRead(exchange)) {
    co_await parts_.forwarder->Forward(exchange);
  } else if (IsHealthPath(path)) {
    mesh::Request like = ToMeshRequest(exchange);
    mesh::Response answer = co_await AnswerHealth(parts_.health, parts_.routes->Current(), std::move(like),
                                                  parts_.diagnostics->Slis(), exchange.clock);
    co_await exchange.reply.Send(answer.code, std::move(answer.headers), std::move(answer.body));
  } else if (path == "/version" || path == "/version/") {
    co_await exchange.reply.SendText(200, "application/json", parts_.version_json);
  } else if (path == "/metrics") {
    std::string text = co_await CollectMetrics(parts_.metrics.Text(), parts_.routes->Current(), parts_.authority,
                                               parts_.metric_rules, exchange.clock);
    co_await exchange.reply.SendText(200, "text/plain; version=0.0.4; charset=utf-8", std::move(text));
  } else if (const Pages::Page page = parts_.pages->Find(path)) {
    co_await exchange.reply.SendText(200, "text/plain; charset=utf-8", page(exchange.query));
  } else if (path == "/" || path == "/index.html") {
    co_await AnswerIndex(exchange);
  } else if (path == "/openapi/v2") {
    co_await AnswerOpenApiV2(exchange);
  } else if (path == "/openapi/v3" || path == kOpenApiV3) {
    const auto documents = Documents();
    const auto& index = documents->OpenApiIndex();
    co_await SendDocument(exchange, index.json, index.etag, "application/json");
  } else if (path.starts_with("/api")) {
    co_await AnswerDiscovery(exchange, Documents());
  } else {
    if (path.starts_with(kOpenApiV3)) SetGroupVersion(exchange, std::string_view(path).substr(kOpenApiV3.size()));
    co_await parts_.forwarder->Forward(exchange);
  }
}

std::optional<meta::ApiError> GenericRoutes::RouteDiscovery(const Exchange& exchange) const {
  const std::string path = WithoutTrailingSlash(exchange.path);
  if (path == "/version" && !IsRead(exchange))
    return meta::RouterError(405, meta::Reason::kMethodNotAllowed, std::string(kNotAllowed));
  if (exchange.info.is_resource_request || !path.starts_with("/api")) return std::nullopt;
  const auto documents = Documents();
  const std::string parent = path.substr(0, path.rfind('/'));
  if (!documents->Find(path)) {  // perhaps a version of a known group that is unknown or cannot be reached
    const bool version =
        parent == "/api" || (documents->Find(parent) && std::count(path.begin(), path.end(), '/') == 3);
    return version && !documents->IsForwarded(path) ? std::optional(meta::GenericNotFound()) : std::nullopt;
  }
  if (exchange.request.method != "GET")
    return meta::RouterError(405, meta::Reason::kMethodNotAllowed, std::string(kNotAllowed));
  const std::string_view accept = exchange.request.Header("accept");
  if (!codec::NamesKnownType(accept)) {
    return meta::RouterError(406, meta::Reason::kNotAcceptable,
                             "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
                             "application/vnd.kubernetes.protobuf");
  }
  const bool root = path == "/api" || path == "/apis";
  if (codec::NegotiateOutput(accept, {.protobuf = true, .transforms = false}) ||
      (root && NegotiateDiscovery(accept) == DiscoveryForm::kAggregatedV2)) {
    return std::nullopt;
  }
  return meta::NotAcceptable(
      "only the following media types are accepted: application/json, application/yaml, "
      "application/vnd.kubernetes.protobuf");
}

Task<> GenericRoutes::AnswerDiscovery(Exchange& exchange, std::shared_ptr<const DiscoveryDocuments> documents) {
  const std::string path = WithoutTrailingSlash(exchange.path);
  if (path == "/api" || path == "/apis") {
    const DiscoveryForm form = NegotiateDiscovery(exchange.request.Header("accept"));
    if (form == DiscoveryForm::kAggregatedV2) {
      const auto& document = path == "/api" ? documents->AggregatedCore() : documents->AggregatedGroups();
      exchange.reply.SetHeader("cache-control", "public");
      co_await SendDocument(exchange, document.json, document.etag,
                            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
      co_return;
    }
  }
  if (const auto* document = documents->Find(path)) {
    co_await SendDocument(exchange, document->json, "", "application/json");
  } else if (!documents->IsForwarded(path)) {
    // The server of a group-version may know it already. It is found here when all discovery documents list it.
    mesh::Response response = service::PlainNotFound();
    co_await exchange.reply.Send(response.code, std::move(response.headers), std::move(response.body));
  } else {
    SetGroupVersion(exchange, std::string_view(path).substr(1));
    co_await parts_.forwarder->Forward(exchange);
  }
}

Task<> GenericRoutes::AnswerOpenApiV2(Exchange& exchange) {
  mesh::Request like = ToMeshRequest(exchange);
  OpenApiV2::Document document = co_await openapi_v2_.Get(parts_.routes->Current(), std::move(like));
  const bool protobuf =
      exchange.request.Header("accept").find("proto-openapi.spec.v2@v1.0+protobuf") != std::string_view::npos;
  std::string content_type = "application/json";
  SharedBytes bytes = document.json;
  if (protobuf) {
    content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    bytes = document.protobuf;
  }
  co_await SendDocument(exchange, std::move(bytes), std::move(document.etag), std::move(content_type));
}

Task<> GenericRoutes::AnswerIndex(Exchange& exchange) {
  std::vector<std::string> paths = Documents()->Paths();
  for (const auto& [path, delegate] : parts_.routes->Current()->by_path) paths.push_back(path);
  for (const char* path : {"/apis/", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/",
                           "/readyz", "/version"})
    paths.emplace_back(path);
  for (const std::string& path : parts_.diagnostics->ListedPaths()) paths.push_back(path);
  mesh::Request like = ToMeshRequest(exchange);
  const std::vector<std::string> checks =
      co_await HealthPaths(parts_.health, parts_.routes->Current(), std::move(like), exchange.clock);
  paths.insert(paths.end(), checks.begin(), checks.end());
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::string text = "{\n  \"paths\": [";
  for (std::size_t i = 0; i < paths.size(); ++i) text += fmt::format("{}\n    \"{}\"", i == 0 ? "" : ",", paths[i]);
  text += "\n  ]\n}";
  co_await exchange.reply.SendText(200, "application/json", std::move(text));
}

}  // namespace apimesh::aggregator
