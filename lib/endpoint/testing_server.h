#pragma once

#include <memory>
#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "lib/endpoint/group_server.h"
#include "lib/mesh/collected_response.h"
#include "lib/registry/status_strategy.h"
#include "lib/schema/builtin.h"
#include "lib/testing/fake_store.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"

/// A group server over stores in memory, for the tests of this folder.
namespace apimesh::endpoint {

/// The response to a request.
struct Reply {
  int code = 0;
  std::string body;
  mesh::Headers headers;

  boost::json::value Json() const { return boost::json::parse(body); }
  std::string Message() const { return std::string(Json().at("message").as_string()); }
  std::vector<std::string> Warnings() const {
    std::vector<std::string> found;
    for (const auto& [name, value] : headers) {
      if (name == "warning") found.push_back(value);
    }
    return found;
  }
};

/// What a test adds to the server. The strategy, the hooks and the checks apply to configmaps.
struct TestServerOptions {
  admission::ChainPtr chain = std::make_shared<const admission::Chain>();
  boost::asio::any_io_executor large_requests;
  std::function<Task<meta::Result<>>(meta::RequestContext ctx)> authorize_create;
  meta::RandomBits random = meta::SecureRandomBits;
  registry::StrategyPtr strategy;
  std::shared_ptr<registry::Hooks> hooks;
  std::shared_ptr<WriteChecks> checks;
};

/// Serves v1 configmaps and apps/v1 deployments, with their real schemas and plain strategies. The Table of deployments
/// has an age column.
class TestServer {
 public:
  explicit TestServer(admission::ChainPtr chain = std::make_shared<const admission::Chain>(),
                      boost::asio::any_io_executor large_requests = {})
      : TestServer(TestServerOptions{.chain = std::move(chain), .large_requests = std::move(large_requests)}) {}

  explicit TestServer(TestServerOptions added) : chain_(std::move(added.chain)) {
    GroupServerOptions options;
    options.environment.large_requests = std::move(added.large_requests);
    options.environment.authorize_create = std::move(added.authorize_create);
    options.environment.sources.random = std::move(added.random);
    options.environment.sources.clock = &clock;
    options.environment.meta_schema = &schema::Builtin();
    server = std::make_unique<GroupServer>(std::move(options));

    registry::Resource config_maps;
    config_maps.gvk = config_maps.storage_gvk = {"", "v1", "ConfigMap"};
    config_maps.plural = "configmaps";
    config_maps.singular = "configmap";
    config_maps.short_names = {"cm"};
    config_maps.verbs = meta::kStoredResourceVerbs;
    config_maps.strategy = std::move(added.strategy);
    config_maps.hooks = std::move(added.hooks);
    config_maps.checks = std::move(added.checks);

    registry::Resource deployments;
    deployments.gvk = deployments.storage_gvk = {"apps", "v1", "Deployment"};
    deployments.plural = "deployments";
    deployments.singular = "deployment";
    deployments.verbs = meta::kStoredResourceVerbs;
    deployments.generation = true;
    deployments.strategy = std::make_shared<registry::SpecStrategy>();
    deployments.reset_fields = {"status"};
    deployments.subresources.push_back(registry::MakeStatusSubresource(deployments.strategy));
    registry::Subresource scale;
    scale.name = "scale";
    scale.verbs = {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate};
    scale.kind = {"autoscaling", "v1", "Scale"};
    scale.schema = schema::Builtin().FindKind(scale.kind);
    scale.scale = registry::ScalePaths{.selector = "spec.selector"};
    scale.strategy = deployments.strategy;
    deployments.subresources.push_back(scale);
    deployments.table = {{{.name = "Name"}, {.name = "Age"}},
                         [this](const meta::Object& object, meta::Ages& ages) {
                           ++cells_made;
                           return meta::json::array{object.Name(),
                                                    ages.Of(meta::FindString(object.Metadata(), "creationTimestamp"))};
                         },
                         {"metadata.name", "metadata.creationTimestamp"}};

    std::vector<ServedVersion> versions;
    versions.push_back({{"", "v1"}, 18000, 1, {Serve(std::move(config_maps), &config_map_store)}, ""});
    versions.push_back({{"apps", "v1"}, 17800, 15, {Serve(std::move(deployments), &deployment_store)}, ""});
    server->Replace(std::move(versions));
  }

  /// Sends a request: a list by Stream(), everything else by Call(). `target` is a path with a query.
  Reply Send(const std::string& method, const std::string& target, const std::string& body = "",
             const mesh::Headers& headers = {{"content-type", "application/json"}, {"user-agent", "test/1"}},
             std::shared_ptr<std::atomic<bool>> gone = nullptr) {
    mesh::Request request;
    request.gone = std::move(gone);
    const std::size_t mark = target.find('?');
    request.method = method;
    request.path = target.substr(0, mark);
    request.query = mark == std::string::npos ? "" : target.substr(mark + 1);
    request.info = meta::ParseRequestInfo(method, request.path, request.query);
    request.headers = headers;
    request.body = body;
    request.user = user;
    request.deadline = deadline;
    boost::asio::io_context& context = *contexts_.emplace_back(std::make_unique<boost::asio::io_context>(1));
    mesh::Response response;
    if (request.info.verb == meta::Verb::kList) {
      mesh::CollectedResponse collected;
      testing::RunTask(context, server->Stream(std::move(request), collected));
      response = collected.Take();
    } else {
      response = testing::RunTask(context, server->Call(std::move(request)));
    }
    Reply reply;
    reply.code = response.code;
    reply.headers = response.headers;
    for (const SharedBytes& piece : response.body) reply.body += piece.View();
    return reply;
  }

  testing::ManualClock clock;
  int cells_made = 0;
  meta::UserInfo user;  // the user of the requests
  SteadyTime deadline = SteadyTime::max();
  std::shared_ptr<testing::FakeStore> config_map_store, deployment_store;
  std::unique_ptr<GroupServer> server;

 private:
  ServedResourcePtr Serve(registry::Resource resource, std::shared_ptr<testing::FakeStore>* store) {
    resource.schema = schema::Builtin().FindKind(resource.gvk);
    storage::ResourceConfig config;
    config.resource = resource.GetGroupResource();
    *store = std::make_shared<testing::FakeStore>(std::move(config));
    auto served = std::make_shared<ServedResource>();
    served->resource = std::move(resource);
    served->store = *store;
    served->admission = chain_;
    return served;
  }

  // Each request has its own context, because a test may send a request while another one is served.
  std::vector<std::unique_ptr<boost::asio::io_context>> contexts_;
  const admission::ChainPtr chain_;
};

}  // namespace apimesh::endpoint
