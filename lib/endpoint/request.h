#pragma once

#include <memory>
#include <string>

#include "lib/codec/negotiation.h"
#include "lib/endpoint/query.h"
#include "lib/endpoint/served_resource.h"
#include "lib/meta/request_context.h"
#include "lib/rpc/delegate.h"

namespace apimesh::endpoint {

/// One request to one resource, with everything that is known before its verb runs. Immutable and shared by the coroutines
/// that work on it.
struct ResourceRequest {
  EnvironmentPtr env;
  ServedResourcePtr served;
  const registry::Subresource* subresource = nullptr;  // points into `served`
  meta::RequestContext ctx;
  rpc::Request http;  // but for what the context has; see Whole()
  Query query;
  codec::OutputType output;
  mutable rpc::Headers extra_headers;  // of whatever answer follows, errors too; touched by the request's own coroutine only

  ResourceRequest(EnvironmentPtr environment, ServedResourcePtr resource, rpc::Request&& request);

  /// The request as it came, to be sent on.
  rpc::Request Whole() const;
  const registry::Resource& Resource() const { return served->resource; }
  const meta::RequestInfo& Info() const { return ctx.Info(); }
  const registry::Strategy& Strategy() const;
  const std::string& Namespace() const { return Info().ns; }
  const std::string& Name() const { return Info().name; }
  /// The namespace that contains the objects of this request: that of the path, or none for a namespace itself.
  std::string_view ObjectNamespace() const;
  /// The key of an object with this name, in the scope of the request. A cluster-scoped object in a namespace is an error.
  meta::Result<storage::Key> KeyOf(std::string_view name) const;
  /// The kind and the schema of the body.
  const meta::Gvk& BodyKind() const;
  const schema::Node& BodySchema() const;
  codec::Offer Offer() const { return {.protobuf = !served->custom}; }
  meta::GroupResource GetGroupResource() const { return served->resource.GetGroupResource(); }
};
using RequestPtr = std::shared_ptr<const ResourceRequest>;

/// The Connector of the request's subresource, if it has one and the verb; else nullptr.
Connector* ConnectorOf(const ResourceRequest& request);

/// Negotiates the output, then runs the verb. Errors come back as answers in the negotiated form.
Task<rpc::Response> Serve(std::shared_ptr<ResourceRequest> request);
/// The same for what streams: watches and large lists.
Task<> ServeStream(std::shared_ptr<ResourceRequest> request, rpc::ResponseStream& stream);

}  // namespace apimesh::endpoint
