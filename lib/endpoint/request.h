#pragma once

#include <memory>
#include <string>

#include "lib/codec/negotiation.h"
#include "lib/endpoint/input/query.h"
#include "lib/endpoint/served_resource.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/request/request_context.h"

namespace apimesh::endpoint {

class ConvertedViews;  // lib/endpoint/write/converted_views.h

/// One request to one resource, with everything that is known before its verb runs. It does not change while the verb
/// runs, and is shared by the coroutines of the request.
struct ResourceRequest {
  EnvironmentPtr env;
  ServedResourcePtr served;
  const registry::Subresource* subresource = nullptr;           // points into `served`
  std::shared_ptr<const admission::ResourceVersions> versions;  // of the resource, for admission; nullptr: none
  meta::RequestContext ctx;
  mesh::Request http;  // without the parts that were moved to `ctx`; see ForForwarding()
  Query query;
  codec::OutputType output;
  mutable mesh::Headers
      extra_headers;  // added to every response, also to errors; used only by the request's own coroutine
  /// The conversions of a write, if the conversion of the kind suspends; used only by the request's own coroutine.
  mutable std::shared_ptr<ConvertedViews> views;

  ResourceRequest(EnvironmentPtr environment, ServedResourcePtr resource, mesh::Request&& request);

  /// Returns 504 if the deadline has passed or the client has disconnected. Long operations call this between their
  /// steps.
  meta::Result<> CheckWanted() const;
  /// Returns the complete request as it was received, for forwarding.
  mesh::Request ForForwarding() const;
  const registry::Resource& Resource() const { return served->resource; }
  const meta::RequestInfo& Info() const { return ctx.Info(); }
  const registry::Strategy& Strategy() const;
  const std::string& Namespace() const { return Info().ns; }
  const std::string& Name() const { return Info().name; }
  /// Returns the namespace of the objects of this request: the namespace in the path, or "" for a namespace object
  /// itself.
  std::string_view ObjectNamespace() const;
  /// Returns the key of the object with this name in the scope of the request. A namespace with a cluster-scoped
  /// resource is an error.
  meta::Result<storage::Key> KeyOf(std::string_view name) const;
  /// Return the kind and the schema of the body.
  const meta::Gvk& BodyKind() const;
  const schema::Node& BodySchema() const;
  codec::Offer Offer() const { return {.protobuf = !served->custom}; }
  meta::GroupResource GetGroupResource() const { return served->resource.GetGroupResource(); }
};
using RequestPtr = std::shared_ptr<const ResourceRequest>;

/// Returns the Connector of the request's subresource if that has one and allows the verb, else nullptr.
Connector* ConnectorOf(const ResourceRequest& request);

/// Negotiates the output and runs the verb. Errors are returned as encoded responses. Lists, watches and connecting
/// subresources are a 500 here, because only ServeStream() serves them.
Task<mesh::Response> Serve(std::shared_ptr<ResourceRequest> request);
/// Serves lists, watches and connecting subresources. Other requests are answered with the result of Serve().
Task<> ServeStream(std::shared_ptr<ResourceRequest> request, mesh::ResponseStream& stream);

}  // namespace apimesh::endpoint
