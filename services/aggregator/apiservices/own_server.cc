#include "services/aggregator/apiservices/own_server.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/discovery.h"
#include "lib/schema/builtin.h"
#include "lib/schema/openapi.h"
#include "lib/service/authorize_create.h"
#include "services/aggregator/apiservices/apiservice_resource.h"

namespace apimesh::aggregator {
namespace {

constexpr int kGroupPriority = 20000, kVersionPriority = 100;  // its group comes first

schema::OpenApiResource Described(const registry::Resource& resource) {
  schema::OpenApiResource described{resource.gvk, resource.plural, false, resource.verbs, {}};
  described.subresources.push_back({"status", resource.gvk, {"get", "patch", "update"}});
  return described;
}

Task<rpc::Response> AnswerWith(meta::json::object document) { co_return rpc::Response::Json(200, codec::WriteJson(document)); }

}  // namespace

std::shared_ptr<endpoint::GroupServer> NewApiServiceServer(storage::StorePtr store, service::AuthClientPtr auth,
                                                           admission::ChainPtr admission) {
  auto served = std::make_shared<endpoint::ServedResource>();
  served->resource = ApiServiceResource();
  served->store = std::move(store);
  served->admission = std::move(admission);
  const std::vector<schema::OpenApiResource> described = {Described(served->resource)};
  const meta::GroupVersion version = served->resource.gvk.Version();

  endpoint::GroupServerOptions options;
  options.environment.meta_schema = &schema::Builtin();
  options.environment.authorize_create = service::CreateAuthorizer(auth);
  options.environment.authorize_unsafe_delete = service::UnsafeDeleteAuthorizer(std::move(auth));
  options.paths["/openapi/v2"] = [described](rpc::Request) { return AnswerWith(schema::OpenApiV2(described, schema::Builtin())); };
  options.paths["/openapi/v3/apis/" + version.ToString()] = [described, version](rpc::Request) {
    return AnswerWith(schema::OpenApiV3(version, described, schema::Builtin()));
  };
  auto server = std::make_shared<endpoint::GroupServer>(std::move(options));
  const std::string hash = fmt::format("{:016X}", std::hash<std::string_view>()(schema::BuiltinDescriptors()));
  server->Replace({{version, kGroupPriority, kVersionPriority, {served}, hash}});
  return server;
}

}  // namespace apimesh::aggregator
