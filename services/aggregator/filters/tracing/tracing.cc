#include "services/aggregator/filters/tracing/tracing.h"

#include <algorithm>

#include "lib/http/client_span.h"
#include "lib/tracing/step.h"
#include "lib/tracing/tracer.h"

namespace apimesh::aggregator {
namespace {

using tracing::SpanContext;
using tracing::SpanPtr;

/// The scope of the spans of filters in kube-apiserver, with its spelling.
constexpr std::string_view kFilterScope = "k8s.op/apiserver/pkg/endpoints/filterlatency";
constexpr int kHttps = 443, kServerError = 500;

/// Returns "GET /api/v1/namespaces/{:namespace}/pods/{:name}", or the method of a request to another path.
std::string NameOf(const Exchange& exchange) {
  const meta::RequestInfo& info = exchange.info;
  std::string name = exchange.request.method;
  if (!info.is_resource_request) return name;
  name += " /" + info.api_prefix;
  if (!info.api_group.empty()) name += "/" + info.api_group;
  name += "/" + info.api_version;
  if (!info.ns.empty()) name += "/namespaces/{:namespace}";
  name += "/" + info.resource;
  if (!info.name.empty()) name += "/{:name}";
  if (!info.subresource.empty()) name += "/" + info.subresource;
  return name;
}

bool MayContinueTraces(const Exchange& exchange) {
  const std::vector<std::string>& groups = exchange.user->info.groups;
  return std::any_of(groups.begin(), groups.end(), [](const std::string& group) {
    return group == "system:masters" || group == "system:monitoring";
  });
}

/// The context of the step that runs, recorded or not.
SpanContext ContextOf(const tracing::Carrier& carrier) {
  if (carrier.span) return carrier.span->Context();
  const auto [traceparent, tracestate] = tracing::SplitContext(carrier.unrecorded);
  return tracing::ParseContext(traceparent, tracestate);
}

tracing::Carrier CarrierOf(tracing::Tracer::Root root) {
  if (root.span) return {.span = std::move(root.span), .unrecorded = {}};
  return {.span = nullptr, .unrecorded = tracing::TextOf(root.context)};
}

void Describe(const Exchange& exchange, tracing::Span& span) {
  const http::Request& request = exchange.request;
  const auto text = [&span](std::string_view key, std::string_view value) {
    if (!value.empty()) span.Set(key, std::string(value));
  };
  const auto [host, port] = http::SplitHostAndPort(request.Header("host"));
  span.Set("server.address", host);
  span.Set("http.request.method", request.method);
  span.Set("url.scheme", std::string("https"));
  if (port > 0 && port != kHttps) span.Set("server.port", std::int64_t{port});
  const auto [peer, peer_port] = http::SplitHostAndPort(exchange.source_address);
  text("network.peer.address", peer);
  if (peer_port > 0) span.Set("network.peer.port", std::int64_t{peer_port});
  text("user_agent.original", request.Header("user-agent"));
  const std::string_view forwarded =
      std::string_view(exchange.forwarded_for).substr(0, exchange.forwarded_for.find(','));
  text("client.address", forwarded.empty() ? std::string_view(peer) : forwarded);
  text("url.path", exchange.path);
  span.Set("network.protocol.version", std::string(request.peer->UsesHttp2() ? "2.0" : "1.1"));
  span.Set("http.target", request.target);
  span.Set("audit-id", exchange.audit_id);
}

void DescribeResponse(const Exchange& exchange, tracing::Span& span) {
  if (const std::size_t bytes = exchange.metrics.body_bytes.value_or(0); bytes > 0)
    span.Set("http.request.body.size", static_cast<std::int64_t>(bytes));
  if (const std::size_t bytes = exchange.reply.BodyBytes(); bytes > 0)
    span.Set("http.response.body.size", static_cast<std::int64_t>(bytes));
  if (const int code = exchange.reply.Code(); code > 0) {
    span.Set("http.response.status_code", std::int64_t{code});
    if (code >= kServerError) span.Fail("");
  }
}

/// Runs the remaining filters within a span, which may be nullptr.
Task<> RunWithin(tracing::Carrier carrier, Exchange& exchange, Next next) {
  tracing::Carrier outer = std::exchange(exchange.trace, std::move(carrier));
  const tracing::Step step(exchange.trace.span);
  co_await next(exchange);
  exchange.trace = std::move(outer);
}

class Tracing final : public Filter {
 public:
  explicit Tracing(const tracing::Tracer& tracer) : tracer_(tracer) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    const SpanContext remote =
        tracing::ParseContext(exchange.request.Header("traceparent"), exchange.request.Header("tracestate"));
    const bool continues = MayContinueTraces(exchange);
    SpanContext parent;
    if (continues) parent = remote.Valid() ? remote : ContextOf(exchange.trace);
    tracing::Tracer::Root root =
        tracer_.StartRoot(parent, NameOf(exchange), tracing::Kind::kServer, tracing::kHttpScope);
    const SpanPtr span = root.span;
    if (span) {
      span->StartedAt(exchange.received);
      if (!continues && remote.Valid()) span->Link(remote);
      Describe(exchange, *span);
    }
    tracing::Carrier outer = std::exchange(exchange.trace, CarrierOf(std::move(root)));
    const tracing::Step step(span);
    co_await next(exchange);
    if (span) DescribeResponse(exchange, *span);
    exchange.trace = std::move(outer);
  }

 private:
  const tracing::Tracer& tracer_;
};

class FilterSpan final : public Filter {
 public:
  explicit FilterSpan(std::string_view name) : name_(name) {}
  Task<> Handle(Exchange& exchange, Next next) override {
    if (!exchange.trace.span) return next(exchange);
    tracing::Carrier carrier;
    carrier.span = exchange.trace.span->Child(name_, {}, tracing::Kind::kInternal, kFilterScope);
    return RunWithin(std::move(carrier), exchange, next);
  }

 private:
  const std::string name_;
};

class FirstSpan final : public Filter {
 public:
  FirstSpan(const tracing::Tracer& tracer, std::string_view name) : tracer_(tracer), name_(name) {}
  Task<> Handle(Exchange& exchange, Next next) override {
    return RunWithin(CarrierOf(tracer_.StartRoot({}, name_, tracing::Kind::kInternal, kFilterScope)), exchange, next);
  }

 private:
  const tracing::Tracer& tracer_;
  const std::string name_;
};

}  // namespace

std::shared_ptr<Filter> MakeTracing(const FilterInputs&) {
  const tracing::Tracer* const tracer = tracing::Current();
  return tracer ? std::make_shared<Tracing>(*tracer) : nullptr;
}

std::shared_ptr<Filter> MakeFilterSpan(std::string_view name) {
  return tracing::Current() ? std::make_shared<FilterSpan>(name) : nullptr;
}

std::shared_ptr<Filter> MakeFirstSpan(std::string_view name) {
  const tracing::Tracer* const tracer = tracing::Current();
  return tracer ? std::make_shared<FirstSpan>(*tracer, name) : nullptr;
}

}  // namespace apimesh::aggregator
