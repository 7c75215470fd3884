#include "lib/endpoint/request.h"

#include <fmt/format.h>

#include "lib/endpoint/connect.h"
#include "lib/endpoint/encode.h"
#include "lib/endpoint/large_requests.h"
#include "lib/endpoint/verbs.h"

namespace apimesh::endpoint {
namespace {

/// Takes what belongs to the context.
meta::RequestContext::State TakeState(rpc::Request& request) {
  meta::RequestContext::State state;
  state.cluster = std::move(request.cluster);
  state.user = std::move(request.user);
  state.info = std::move(request.info);
  state.audit_id = std::move(request.audit_id);
  state.traceparent = std::move(request.traceparent);
  state.deadline = request.deadline;
  state.gone = std::move(request.gone);
  return state;
}

const registry::Subresource* FindSubresource(const registry::Resource& resource, std::string_view name) {
  for (const registry::Subresource& subresource : resource.subresources) {
    if (subresource.name == name) return &subresource;
  }
  return nullptr;
}

Verb FindVerb(std::string_view verb) {
  static constexpr std::pair<std::string_view, Verb> kVerbs[] = {
      {"get", &Get},       {"list", &List},   {"create", &Create}, {"update", &Update},
      {"patch", &Patch},   {"delete", &Delete}, {"deletecollection", &DeleteCollection},
  };
  for (const auto& [name, function] : kVerbs) {
    if (name == verb) return function;
  }
  return nullptr;
}

/// Whether the path has what the verb needs: one object has a name, a collection has none, and only reads go over all
/// namespaces.
bool PathFits(const ResourceRequest& request, std::string_view verb) {
  const bool all_namespaces = request.Resource().scope == registry::Scope::kNamespaced && request.Namespace().empty();
  // Whatever the method, the verb of /watch/… is this one; the reference's router knows GET only, and has none for custom resources.
  if (verb == "watch") return request.served->custom || request.http.method == "GET";
  if (verb == "list") return true;
  if (all_namespaces) return false;
  if (verb == "deletecollection") return true;
  if (verb == "create") return request.subresource || request.Name().empty();
  return !request.Name().empty();
}

/// Whether there is something to serve the verb from: objects, or the action or connector of a subresource.
bool HasMeans(const ResourceRequest& request, std::string_view verb) {
  if (verb == "create" && (request.subresource || !request.served->store)) {
    return static_cast<bool>(request.subresource ? request.subresource->create : request.Resource().create);
  }
  return request.served->store != nullptr;
}

bool Allowed(const ResourceRequest& request, std::string_view verb) {
  if (!PathFits(request, verb) || !HasMeans(request, verb)) return false;
  const std::set<std::string>& verbs = request.subresource ? request.subresource->verbs : request.Resource().verbs;
  return verbs.contains(std::string(verb));
}

/// What the reference's router says, before it looks at the object.
meta::ApiError Refusal(int code, std::string reason, std::string message) {
  meta::ApiError::Data data;
  data.code = code;
  data.reason = std::move(reason);
  data.message = std::move(message);
  data.has_details = true;
  return meta::ApiError(std::move(data));
}

meta::ApiError NotAllowed(const ResourceRequest& request) {
  if (request.served->custom) return meta::MethodNotSupported(request.GetGroupResource(), request.Info().verb);
  return Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

constexpr std::string_view kTypes = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kStreamTypes = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// The method has to be one that the path has, then the content type, then what the client takes.
meta::Result<> Route(const ResourceRequest& request, bool served) {
  const std::string& verb = request.Info().verb;
  if (!served || !Allowed(request, verb)) return NotAllowed(request);
  if (request.served->custom) return {};  // not behind a router
  if (request.http.method == "HEAD") return NotAllowed(request);
  if (verb == "patch" && !IsPatchType(request.http.Header("content-type"))) {
    return Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type");
  }
  if (codec::NamesKnownType(request.http.Header("accept"))) return {};
  return Refusal(406, "NotAcceptable",
                 fmt::format("406: Not Acceptable\n\nAvailable representations: {}{}", kTypes,
                             verb == "list" || verb == "watch" ? kStreamTypes : ""));
}

}  // namespace

Connector* ConnectorOf(const ResourceRequest& request) {
  if (!request.subresource || !request.subresource->verbs.contains(request.Info().verb)) return nullptr;
  const auto found = request.served->connectors.find(request.subresource->name);
  return found == request.served->connectors.end() ? nullptr : found->second.get();
}

ResourceRequest::ResourceRequest(EnvironmentPtr environment, ServedResourcePtr resource, rpc::Request&& request)
    : env(std::move(environment)), served(std::move(resource)), ctx(TakeState(request)), http(std::move(request)),
      query(http.query) {
  if (!Info().subresource.empty()) subresource = FindSubresource(served->resource, Info().subresource);
  for (const std::string& text : served->warnings) ctx.Warn(text);
}

rpc::Request ResourceRequest::Whole() const {
  rpc::Request whole = http;
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

Task<rpc::Response> Serve(std::shared_ptr<ResourceRequest> request) {
  const std::string& verb = request->Info().verb;
  const Verb function = FindVerb(verb);
  const bool connects = ConnectorOf(*request) != nullptr;
  if (!connects) {
    const meta::Result<> routed = Route(*request, function || verb == "watch");
    if (!routed) co_return ErrorResponse(*request, routed.error());
  }
  if (connects || verb == "watch") {
    rpc::Response response;
    response.use_stream = true;
    co_return response;
  }
  meta::Result<codec::OutputType> output = codec::NegotiateOutput(request->http.Header("accept"), request->Offer());
  if (!output) co_return ErrorResponse(*request, output.error());
  request->output = *output;
  request->output.pretty |= codec::WantsPretty(request->query.First("pretty"), request->http.Header("user-agent"));
  Answer answer = co_await RunVerb(function, request);
  rpc::Response response;
  if (answer) {
    response = std::move(*answer);
    AddWarnings(request->ctx, response.headers);
  } else {
    response = ErrorResponse(*request, answer.error());
  }
  for (auto& header : request->extra_headers) response.headers.push_back(std::move(header));
  co_return response;
}

Task<> ServeStream(std::shared_ptr<ResourceRequest> request, rpc::ResponseStream& stream) {
  const std::string& verb = request->Info().verb;
  const bool watch = verb == "watch";
  if (ConnectorOf(*request)) {
    co_await ServeForward(request, stream);
    co_return;
  }
  if ((!watch && verb != "list") || !Route(*request, true)) {
    rpc::Response response = co_await Serve(request);
    co_await stream.WriteWhole(std::move(response));
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
    if (!watch) request->output.pretty |= codec::WantsPretty(request->query.First("pretty"), request->http.Header("user-agent"));
    // No conditional operator: GCC 12 runs both sides of one that has a co_await in each.
    if (watch) {
      done = co_await Watch(request, stream);
    } else {
      done = co_await StreamList(request, stream);
    }
  }
  if (done) co_return;
  rpc::Response response = ErrorResponse(*request, done.error());
  co_await stream.WriteWhole(std::move(response));
}

}  // namespace apimesh::endpoint
