#include "lib/endpoint/spans.h"

#include "lib/base/text/text.h"
#include "lib/codec/negotiation.h"
#include "lib/tracing/span.h"

namespace apimesh::endpoint {
namespace {

using meta::Verb;

/// Whether a watch begins with the current state and marks its end (the streaming form of a list).
bool IsWatchList(const ResourceRequest& request) {
  return request.query.Bool("sendInitialEvents").value_or(false) &&
         request.query.Bool("allowWatchBookmarks").value_or(false);
}

std::string_view NameOf(const ResourceRequest& request) {
  switch (request.Info().verb) {
    case Verb::kGet: return "Get";
    case Verb::kList: return "List";
    case Verb::kWatch: return IsWatchList(request) ? "WatchList" : "";
    case Verb::kCreate: return "Create";
    case Verb::kUpdate: return "Update";
    case Verb::kPatch: return "Patch";
    case Verb::kDelete:
    case Verb::kDeleteCollection: return "Delete";
    default: return "";
  }
}

/// The verb as metrics and logs of kube-apiserver show it.
std::string VerbText(const ResourceRequest& request) {
  switch (request.Info().verb) {
    case Verb::kList: return "LIST";
    case Verb::kWatch: return "WATCH";
    case Verb::kDeleteCollection: return "DELETECOLLECTION";
    case Verb::kPatch:
      return request.http.Header("content-type").starts_with("application/apply-patch") ? "APPLY" : "PATCH";
    default: return request.http.method;
  }
}

std::string_view ScopeText(const meta::RequestInfo& info) {
  if (!info.name.empty() || info.verb == Verb::kCreate) return "resource";
  return info.ns.empty() ? "cluster" : "namespace";
}

std::string ClientAddress(const ResourceRequest& request) {
  const std::string_view address = request.http.remote_address;
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host.empty() ? "unknown" : std::string(host);
}

std::string EncoderText(const codec::OutputType& output) {
  switch (output.format) {
    case codec::Format::kProtobuf: return "protobuf";
    case codec::Format::kYaml: return "yaml";
    case codec::Format::kJson: break;
  }
  return "json";
}

}  // namespace

tracing::SpanPtr VerbSpan(const ResourceRequest& request) {
  if (!request.ctx.Span()) return nullptr;
  const std::string_view name = NameOf(request);
  if (name.empty()) return nullptr;
  const meta::RequestInfo& info = request.Info();
  tracing::Attributes attributes = {{"accept", std::string(request.http.Header("accept"))},
                                    {"audit-id", request.ctx.AuditId()},
                                    {"client", ClientAddress(request)},
                                    {"api-group", info.api_group},
                                    {"api-version", info.api_version},
                                    {"name", info.name},
                                    {"subresource", info.subresource},
                                    {"namespace", info.ns},
                                    {"protocol", std::string(request.http.Header(kProtocolHeader))},
                                    {"resource", info.resource},
                                    {"scope", std::string(ScopeText(info))},
                                    {"url", request.http.path},
                                    {"user-agent", std::string(request.http.Header("user-agent"))},
                                    {"verb", VerbText(request)}};
  return request.ctx.Span()->Child(std::string(name), std::move(attributes));
}

tracing::SpanPtr SerializeSpan(const ResourceRequest& request) {
  if (!request.ctx.Span()) return nullptr;
  request.ctx.Span()->AddEvent("About to write a response");
  tracing::Attributes attributes = {{"audit-id", request.ctx.AuditId()},
                                    {"method", request.http.method},
                                    {"url", request.http.path},
                                    {"protocol", std::string(request.http.Header(kProtocolHeader))},
                                    {"mediaType", std::string(codec::MediaTypeOf(request.output.format))},
                                    {"encoder", EncoderText(request.output)}};
  return request.ctx.Span()->Child("SerializeObject", std::move(attributes));
}

}  // namespace apimesh::endpoint
