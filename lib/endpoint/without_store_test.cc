#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

/// Responds with the data of the request.
class Echo final : public Connector {
 public:
  Task<meta::Result<>> Forward(meta::RequestContext, mesh::Request request, mesh::ResponseStream& stream) override {
    if (request.info.name == "nowhere") co_return meta::BadRequest("no such place");
    std::vector<SharedBytes> body;
    body.emplace_back(request.method + " " + request.info.name);
    mesh::Headers headers;
    const bool open = co_await stream.WriteHead(200, std::move(headers));
    if (open) co_await stream.Write(std::move(body));
    co_return meta::Result<>();
  }
  Task<meta::Result<>> Upgrade(meta::RequestContext, mesh::Request, mesh::ConnectStream&) override {
    co_return meta::BadRequest("no");
  }
};

/// Serves bindings without a store and without an action, and configmaps/proxy with a connector.
class WithoutStore : public ::testing::Test {
 protected:
  WithoutStore() {
    auto bindings = std::make_shared<ServedResource>();
    bindings->resource.gvk = {"", "v1", "Binding"};
    bindings->resource.plural = "bindings";
    bindings->resource.schema = schema::Builtin().FindKind(bindings->resource.gvk);
    bindings->resource.verbs = meta::kStoredResourceVerbs;
    bindings->admission = std::make_shared<const admission::Chain>();
    auto maps = std::make_shared<ServedResource>();
    maps->resource.gvk = {"", "v1", "ConfigMap"};
    maps->resource.plural = "configmaps";
    maps->resource.schema = schema::Builtin().FindKind(maps->resource.gvk);
    for (const char* name : {"proxy", "silent"}) {
      registry::Subresource subresource;
      subresource.name = name;
      subresource.verbs = {meta::Verb::kCreate, meta::Verb::kGet};
      maps->resource.subresources.push_back(subresource);
    }
    maps->resource.subresources.front().connector = std::make_shared<Echo>();
    maps->admission = bindings->admission;
    server_.server->Replace({{{"", "v1"}, 1, 1, {bindings, maps}, ""}});
  }
  mesh::Response Stream(const std::string& method, const std::string& path) {
    mesh::Request request;
    request.method = method;
    request.path = path;
    request.info = meta::ParseRequestInfo(method, path, "");
    mesh::CollectedResponse stream;
    testing::RunTask(server_.server->Stream(std::move(request), stream));
    return stream.Take();
  }
  TestServer server_;
};

TEST_F(WithoutStore, EveryVerbIs405) {
  const std::string all = "/api/v1/namespaces/default/bindings", one = all + "/a";
  const std::pair<const char*, std::string> requests[] = {
      {"GET", all},   {"GET", one},    {"POST", all},   {"PUT", one},
      {"PATCH", one}, {"DELETE", one}, {"DELETE", all}, {"GET", all + "?watch=1"}};
  for (const auto& [method, path] : requests) {
    const Reply reply = server_.Send(method, path, R"({"metadata":{"name":"a"}})");
    EXPECT_EQ(reply.code, 405) << method << " " << path << reply.body;
  }
  EXPECT_EQ(server_.Send("POST", "/api/v1/namespaces/default/configmaps/a/silent", "{}").code, 405);
  EXPECT_EQ(server_.Send("GET", "/api/v1/namespaces/default/configmaps/a/silent").code, 405);
}

TEST_F(WithoutStore, ConnectorsAnswerThemselves) {
  const std::string path = "/api/v1/namespaces/default/configmaps/";
  const mesh::Response answer = Stream("GET", path + "a/proxy");
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.Text(), "GET a");
  EXPECT_EQ(Stream("POST", path + "a/proxy").Text(), "POST a");
  const mesh::Response refused = Stream("GET", path + "nowhere/proxy");
  EXPECT_EQ(refused.code, 400);
  EXPECT_NE(refused.Text().find("no such place"), std::string::npos);
  EXPECT_EQ(Stream("DELETE", path + "a/proxy").code, 405);
}

TEST_F(WithoutStore, ACallCannotReachAConnector) {
  EXPECT_EQ(server_.Send("GET", "/api/v1/namespaces/default/configmaps/a/proxy").code, 500);
}

}  // namespace
}  // namespace apimesh::endpoint
