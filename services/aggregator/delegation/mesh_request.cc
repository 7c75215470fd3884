#include "services/aggregator/delegation/mesh_request.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kMeaningful[] = {"accept", "accept-encoding", "content-type", "user-agent", "if-none-match",
                                            "if-match", "content-encoding", "x-kubernetes-deprecated"};
constexpr std::string_view kHopByHop[] = {"keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
                                          "content-length", "expect", "audit-id", "traceparent"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// What a proxied server should see is up to the client.
bool IsProxied(const meta::RequestInfo& info) {
  return info.is_resource_request && (info.subresource == "proxy" || info.subresource == "exec" || info.subresource == "attach" ||
                                      info.subresource == "portforward");
}

}  // namespace

bool NeedsBody(const Exchange& exchange, bool external) {
  const std::string& method = exchange.request.method;
  return (method != "GET" && method != "HEAD") || external || IsProxied(exchange.info);
}

bool AsksForUpgrade(const http::Request& request) {
  if (request.Header("upgrade").empty()) return false;
  std::string connection(request.Header("connection"));
  for (char& c : connection) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return connection.find("upgrade") != std::string::npos;
}

rpc::Request ToMeshRequest(Exchange& exchange, bool all_headers) {
  rpc::Request request;
  request.method = exchange.request.method;
  request.path = exchange.path;
  request.query = exchange.query;
  const bool proxied = all_headers || IsProxied(exchange.info);
  for (const auto& header : exchange.request.headers) {
    if (header.first.starts_with("x-apimesh-")) continue;  // the mesh's own
    const bool wanted = proxied ? !IsOneOf(kHopByHop, header.first) : IsOneOf(kMeaningful, header.first);
    if (wanted) request.headers.push_back(header);
  }
  request.body = std::move(exchange.body);
  request.user = exchange.user->info;
  request.info = exchange.info;
  request.audit_id = exchange.audit_id;
  request.traceparent = exchange.request.Header("traceparent");
  request.remote_address = exchange.source_address;
  request.deadline = exchange.deadline;
  return request;
}

}  // namespace apimesh::aggregator
