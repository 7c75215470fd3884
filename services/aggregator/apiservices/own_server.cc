#include "services/aggregator/apiservices/own_server.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/discovery.h"
#include "lib/schema/builtin.h"
#include "lib/schema/openapi/openapi.h"
#include "lib/service/authorize_create.h"
#include "services/aggregator/apiservices/apiservice_resource.h"

namespace apimesh::aggregator {
namespace {

constexpr int kGroupPriority = 20000, kVersionPriority = 100;  // its group is listed first

schema::OpenApiResource Described(const registry::Resource& resource) {
  schema::OpenApiResource described{resource.gvk, resource.plural, false, resource.verbs, {}};
  described.subresources.push_back(
      {"status", resource.gvk, {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate}});
  return described;
}

Task<mesh::Response> AnswerWith(meta::json::object document) {
  co_return mesh::Response::Json(200, codec::WriteJson(document));
}

}  // namespace

std::shared_ptr<endpoint::GroupServer> NewApiServiceServer(ApiServiceServerParts parts) {
  auto served = std::make_shared<endpoint::ServedResource>();
  served->resource = ApiServiceResource(parts.clock);
  served->store = std::move(parts.store);
  served->admission = std::move(parts.admission);
  const std::vector<schema::OpenApiResource> described = {Described(served->resource)};
  const meta::GroupVersion version = served->resource.gvk.Version();

  endpoint::GroupServerOptions options;
  options.environment.sources.clock = &parts.clock;
  options.environment.meta_schema = &schema::Builtin();
  options.environment.large_requests = std::move(parts.large_requests);
  endpoint::ApplyGates(parts.features, options.environment);
  options.environment.authorize_create = service::CreateAuthorizer(parts.auth);
  options.environment.authorize_unsafe_delete = service::UnsafeDeleteAuthorizer(std::move(parts.auth));
  const auto descriptions = std::make_shared<const schema::Descriptions>(parts.descriptions_file);
  options.paths["/openapi/v2"] = [described, descriptions](mesh::Request) {
    return AnswerWith(schema::OpenApiV2(described, schema::Builtin(), descriptions->Read()));
  };
  options.paths["/openapi/v3/apis/" + version.ToString()] = [described, descriptions, version](mesh::Request) {
    return AnswerWith(schema::OpenApiV3(version, described, schema::Builtin(), descriptions->Read()));
  };
  auto server = std::make_shared<endpoint::GroupServer>(std::move(options));
  const std::string hash =
      fmt::format("{:016X}{}", std::hash<std::string_view>()(schema::BuiltinDescriptors()), descriptions->Digest());
  server->Replace({{version, kGroupPriority, kVersionPriority, {served}, hash}});
  return server;
}

}  // namespace apimesh::aggregator
