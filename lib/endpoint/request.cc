#include "lib/endpoint/request.h"

#include <fmt/format.h>

#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/spans.h"
#include "lib/endpoint/verbs/connect.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/endpoint/write/large_requests.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/tracing/step.h"
#include "lib/tracing/tracer.h"

namespace apimesh::endpoint {
namespace {

using meta::Verb;

/// Moves the parts of the request that belong to the context.
meta::RequestContext TakeContext(mesh::Request& request, const Environment* environment) {
  tracing::SpanPtr span = tracing::Remote(request.traceparent);
  meta::RequestContext::State state;
  state.cluster = std::move(request.cluster);
  state.user = std::move(request.user);
  state.info = std::move(request.info);
  state.audit_id = std::move(request.audit_id);
  state.traceparent = std::move(request.traceparent);
  if (request.deadline != SteadyTime::max()) state.deadline = {request.deadline, *environment->sources.clock};
  state.gone = std::move(request.gone);
  const meta::RequestContext ctx(std::move(state));
  return span ? ctx.Within(std::move(span)) : ctx;
}

const registry::Subresource* FindSubresource(const registry::Resource& resource, std::string_view name) {
  for (const registry::Subresource& subresource : resource.subresources) {
    if (subresource.name == name) return &subresource;
  }
  return nullptr;
}

VerbFunction FunctionOf(Verb verb) {
  switch (verb) {
    case Verb::kGet: return &Get;
    case Verb::kCreate: return &Create;
    case Verb::kUpdate: return &Update;
    case Verb::kPatch: return &Patch;
    case Verb::kDelete: return &Delete;
    case Verb::kDeleteCollection: return &DeleteCollection;
    default: return nullptr;
  }
}

/// Returns whether the path has the parts that the verb needs: an object needs a name, a collection must not have one,
/// and only reads are possible across all namespaces.
bool PathFits(const ResourceRequest& request, Verb verb) {
  const bool all_namespaces = request.Resource().scope == registry::Scope::kNamespaced && request.Namespace().empty();
  // The verb of /watch/… is "watch" for every method. kube-apiserver's router accepts only GET; it does not route
  // custom resources.
  if (verb == Verb::kWatch) return request.served->custom || request.http.method == "GET";
  if (verb == Verb::kList) return true;
  if (all_namespaces) return false;
  if (verb == Verb::kDeleteCollection) return true;
  if (verb == Verb::kCreate) return request.subresource || request.Name().empty();
  return !request.Name().empty();
}

/// Returns whether the verb can be served: from a store, or by the create action of the resource or subresource.
bool CanHandle(const ResourceRequest& request, Verb verb) {
  if (verb == Verb::kCreate && (request.subresource || !request.served->store)) {
    return static_cast<bool>(request.subresource ? request.subresource->create : request.Resource().create);
  }
  return request.served->store != nullptr;
}

/// Whether the request is a create that stores nothing (a review, a binding). Its result has no Table, so that a client
/// that also accepts the object gets the object.
bool Acts(const ResourceRequest& request, Verb verb) {
  if (verb != Verb::kCreate) return false;
  return static_cast<bool>(request.subresource ? request.subresource->create : request.Resource().create);
}

bool Allowed(const ResourceRequest& request, Verb verb) {
  if (!PathFits(request, verb) || !CanHandle(request, verb)) return false;
  return (request.subresource ? request.subresource->verbs : request.Resource().verbs).contains(verb);
}

meta::ApiError NotAllowed(const ResourceRequest& request) {
  if (request.served->custom) return meta::MethodNotSupported(request.GetGroupResource(), request.Info().verb.Text());
  return meta::RouterError(405, meta::Reason::kMethodNotAllowed,
                           "the server does not allow this method on the requested resource");
}

constexpr std::string_view kTypes = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kStreamTypes =
    ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// Adds a warning about a deprecated version, and the annotations of the audit event that report its use.
void WarnOfDeprecation(const ResourceRequest& request, const std::string& text) {
  constexpr std::string_view kRemoval = "unavailable in v";
  request.ctx.Warn(text);
  request.ctx.AddAuditAnnotation("k8s.io/deprecated", "true");
  const std::size_t removal = text.find(kRemoval);
  if (removal == std::string::npos) return;
  const std::size_t begin = removal + kRemoval.size(), end = text.find_first_not_of("0123456789.", begin);
  request.ctx.AddAuditAnnotation("k8s.io/removed-release", std::string_view(text).substr(begin, end - begin));
}

/// Checks that the path allows the method, then the content type, then the Accept header.
meta::Result<> Route(const ResourceRequest& request, bool served) {
  const Verb verb = request.Info().verb;
  // A method that is refused is not a use of a deprecated version. For custom resources, kube-apiserver checks the
  // method after it adds the warnings.
  const bool allowed = served && Allowed(request, verb);
  if (allowed || request.served->custom) {
    for (const std::string& text : request.Resource().warnings) WarnOfDeprecation(request, text);
  }
  if (!allowed) return NotAllowed(request);
  if (request.served->custom) return {};  // kube-apiserver's router does not handle custom resources
  if (request.http.method == "HEAD") return NotAllowed(request);
  if (verb == Verb::kPatch && !IsPatchType(request.http.Header("content-type"))) {
    return meta::RouterError(415, meta::Reason::kUnsupportedMediaType, "415: Unsupported Media Type");
  }
  if (codec::NamesKnownType(request.http.Header("accept"))) return {};
  return meta::RouterError(406, meta::Reason::kNotAcceptable,
                           fmt::format("406: Not Acceptable\n\nAvailable representations: {}{}", kTypes,
                                       verb == Verb::kList || verb == Verb::kWatch ? kStreamTypes : ""));
}

}  // namespace

Connector* ConnectorOf(const ResourceRequest& request) {
  if (!request.subresource || !request.subresource->verbs.contains(request.Info().verb)) return nullptr;
  return request.subresource->connector.get();
}

ResourceRequest::ResourceRequest(EnvironmentPtr environment, ServedResourcePtr resource, mesh::Request&& request)
    : env(std::move(environment)),
      served(std::move(resource)),
      ctx(TakeContext(request, env.get())),
      http(std::move(request)),
      query(http.query) {
  if (!Info().subresource.empty()) subresource = FindSubresource(served->resource, Info().subresource);
}

meta::Result<> ResourceRequest::CheckWanted() const {
  if (!ctx.Abandoned()) return {};
  return meta::Timeout("request did not complete within the allotted timeout", 0);
}

mesh::Request ResourceRequest::ForForwarding() const {
  mesh::Request whole = http;
  whole.cluster = ctx.Cluster();
  whole.user = ctx.User();
  whole.info = ctx.Info();
  whole.audit_id = ctx.AuditId();
  whole.traceparent = ctx.TraceParent();
  return whole;
}

const registry::Strategy& ResourceRequest::Strategy() const {
  static const registry::Strategy kPlain;
  if (subresource && subresource->strategy) return *subresource->strategy;
  return served->resource.strategy ? *served->resource.strategy : kPlain;
}

std::string_view ResourceRequest::ObjectNamespace() const {
  const bool itself = Resource().scope == registry::Scope::kCluster && Info().IsNamespaceItself();
  return itself ? std::string_view() : std::string_view(Info().ns);
}

meta::Result<storage::Key> ResourceRequest::KeyOf(std::string_view name) const {
  return storage::KeyFor(Resource().scope == registry::Scope::kNamespaced, ObjectNamespace(), name);
}

const meta::Gvk& ResourceRequest::BodyKind() const {
  return subresource && !subresource->kind.kind.empty() ? subresource->kind : Resource().gvk;
}

const schema::Node& ResourceRequest::BodySchema() const {
  return subresource && subresource->schema ? *subresource->schema : *Resource().schema;
}

Task<mesh::Response> Serve(std::shared_ptr<ResourceRequest> request) {
  const Verb verb = request->Info().verb;
  const VerbFunction function = FunctionOf(verb);
  const bool connects = ConnectorOf(*request) != nullptr;
  const bool streamed = connects || verb == Verb::kList || verb == Verb::kWatch;
  if (!connects) {
    const meta::Result<> routed = Route(*request, function || streamed);
    if (!routed) co_return ErrorResponse(*request, routed.error());
  }
  if (streamed) co_return ErrorResponse(*request, meta::InternalError("this request is answered only as a stream"));
  codec::Offer offer = request->Offer();
  if (Acts(*request, verb)) offer.transforms = false;
  meta::Result<codec::OutputType> output = codec::NegotiateOutput(request->http.Header("accept"), offer);
  if (!output) co_return ErrorResponse(*request, output.error());
  request->output = *output;
  request->output.pretty |= codec::WantsPretty(request->query.First("pretty"), request->http.Header("user-agent"));
  const tracing::Step step(VerbSpan(*request));
  if (step) request->ctx = request->ctx.Within(step.GetSpan());
  Answer answer = co_await RunVerb(function, request);
  mesh::Response response;
  if (answer) {
    response = std::move(*answer);
    AddWarnings(request->ctx, response.headers);
  } else {
    response = ErrorResponse(*request, answer.error());
  }
  AddAuditAnnotations(request->ctx, response.headers);
  for (auto& header : request->extra_headers) response.headers.push_back(std::move(header));
  co_return response;
}

Task<> ServeStream(std::shared_ptr<ResourceRequest> request, mesh::ResponseStream& stream) {
  const Verb verb = request->Info().verb;
  const bool watch = verb == Verb::kWatch;
  if (ConnectorOf(*request)) {
    co_await ServeForward(request, stream);
    co_return;
  }
  if ((!watch && verb != Verb::kList) || !Route(*request, true)) {
    mesh::Response response = co_await Serve(request);
    co_await stream.WriteComplete(std::move(response));
    co_return;
  }
  const std::string_view accept = request->http.Header("accept");
  meta::Result<codec::OutputType> output =
      watch ? codec::NegotiateStream(accept, request->Offer()) : codec::NegotiateOutput(accept, request->Offer());
  meta::Result<> done;
  if (!output) {
    done = output.error();
  } else {
    request->output = *output;
    if (!watch)
      request->output.pretty |= codec::WantsPretty(request->query.First("pretty"), request->http.Header("user-agent"));
    const tracing::Step step(VerbSpan(*request));
    if (step) request->ctx = request->ctx.Within(step.GetSpan());
    // This is not a conditional operator, because GCC 12 evaluates both branches of one that has a co_await in each.
    if (watch) {
      done = co_await Watch(request, stream);
    } else {
      done = co_await StreamList(request, stream);
    }
  }
  if (done) co_return;
  mesh::Response response = ErrorResponse(*request, done.error());
  AddAuditAnnotations(request->ctx, response.headers);
  co_await stream.WriteComplete(std::move(response));
}

}  // namespace apimesh::endpoint
