#include "services/aggregator/delegation/mesh_request.h"

#include "lib/base/text/text.h"
#include "lib/endpoint/spans.h"
#include "lib/mesh/audit_headers.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kMeaningful[] = {"accept",           "accept-encoding",        "content-type",
                                            "user-agent",       "if-none-match",          "if-match",
                                            "content-encoding", "x-kubernetes-deprecated"};
constexpr std::string_view kHopByHop[] = {"keep-alive",        "proxy-connection", "te",     "trailer",
                                          "transfer-encoding", "content-length",   "expect", "audit-id"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The client decides which headers a proxied server receives.
bool IsProxied(const meta::RequestInfo& info) {
  return info.is_resource_request && (info.subresource == "proxy" || info.subresource == "exec" ||
                                      info.subresource == "attach" || info.subresource == "portforward");
}

/// Whether a group server decodes the body of a request with this verb. The body of a patch is recorded as it is.
bool IsWrite(meta::Verb verb) {
  return verb == meta::Verb::kCreate || verb == meta::Verb::kUpdate || verb == meta::Verb::kDelete ||
         verb == meta::Verb::kDeleteCollection;
}

/// Adds the span of the current filter or, if tracing is off, what the client sent.
void AddTrace(const Exchange& exchange, mesh::Request& request) {
  request.traceparent = exchange.trace.Text();
  if (exchange.trace.span) {
    request.headers.emplace_back(endpoint::kProtocolHeader,
                                 exchange.request.peer->UsesHttp2() ? "HTTP/2.0" : "HTTP/1.1");
  } else if (request.traceparent.empty()) {
    const std::string_view sent = exchange.request.Header("traceparent");
    if (!sent.empty()) request.traceparent = tracing::JoinContext(sent, exchange.request.Header("tracestate"));
  }
}

}  // namespace

bool NeedsBody(const Exchange& exchange, bool external) {
  const std::string& method = exchange.request.method;
  return (method != "GET" && method != "HEAD") || external || IsProxied(exchange.info);
}

bool AsksForUpgrade(const http::Request& request) {
  if (request.Header("upgrade").empty()) return false;
  return LowerCase(request.Header("connection")).find("upgrade") != std::string::npos;
}

bool AsksForHttp2(const http::Request& request) {
  for (const auto& [name, value] : request.headers) {
    if (name == "http2-settings" || (name == "upgrade" && LowerCase(value).find("h2c") != std::string::npos))
      return true;
  }
  return false;
}

void RemoveUpgrade(mesh::Headers& headers) {
  std::erase_if(headers,
                [](const auto& header) { return header.first == "upgrade" || header.first == "http2-settings"; });
}

mesh::Request ToMeshRequest(Exchange& exchange, bool all_headers) {
  mesh::Request request;
  request.method = exchange.request.method;
  request.path = exchange.path;
  request.query = exchange.query;
  const bool proxied = all_headers || IsProxied(exchange.info);
  for (const auto& header : exchange.request.headers) {
    if (header.first.starts_with("x-apimesh-")) continue;  // reserved for the mesh
    const bool wanted = proxied ? !IsOneOf(kHopByHop, header.first) : IsOneOf(kMeaningful, header.first);
    if (wanted) request.headers.push_back(header);
  }
  if (exchange.audit.wanted && !all_headers && !exchange.long_running && IsWrite(exchange.info.verb)) {
    request.headers.emplace_back(mesh::kAuditWantsHeader,
                                 exchange.audit.wants_request ? mesh::kAuditObject : mesh::kAuditReference);
  }
  request.body = std::move(exchange.body);
  request.user = exchange.user->info;
  request.info = exchange.info;
  request.audit_id = exchange.audit_id;
  AddTrace(exchange, request);
  request.remote_address = exchange.source_address;
  request.deadline = exchange.deadline;
  return request;
}

}  // namespace apimesh::aggregator
