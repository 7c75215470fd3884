#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

/// Answers what it is asked for.
class Echo final : public Connector {
 public:
  Task<meta::Result<>> Forward(meta::RequestContext, rpc::Request request, rpc::ResponseStream& stream) override {
    if (request.info.name == "nowhere") co_return meta::BadRequest("no such place");
    std::vector<SharedBytes> body;
    body.emplace_back(request.method + " " + request.info.name);
    if (co_await stream.WriteHead(200, {})) co_await stream.Write(std::move(body));
    co_return meta::Result<>();
  }
  Task<meta::Result<>> Upgrade(meta::RequestContext, rpc::Request, rpc::ConnectStream&) override { co_return meta::BadRequest("no"); }
};

class Collected final : public rpc::ResponseStream {
 public:
  Task<bool> WriteHead(int given, rpc::Headers) override {
    code = given;
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    for (const SharedBytes& piece : pieces) body += piece.View();
    co_return true;
  }
  void OnCancel(std::function<void()>) override {}
  void Abort() override {}
  int code = 0;
  std::string body;
};

/// Bindings have neither objects nor, here, an action; configmaps/proxy has a connector.
class WithoutStore : public ::testing::Test {
 protected:
  WithoutStore() {
    auto bindings = std::make_shared<ServedResource>();
    bindings->resource.gvk = {"", "v1", "Binding"};
    bindings->resource.plural = "bindings";
    bindings->resource.schema = schema::Builtin().FindKind(bindings->resource.gvk);
    bindings->resource.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
    bindings->admission = std::make_shared<const admission::Chain>();
    auto maps = std::make_shared<ServedResource>();
    maps->resource.gvk = {"", "v1", "ConfigMap"};
    maps->resource.plural = "configmaps";
    maps->resource.schema = schema::Builtin().FindKind(maps->resource.gvk);
    for (const char* name : {"proxy", "silent"}) {
      registry::Subresource subresource;
      subresource.name = name;
      subresource.verbs = {"create", "get"};
      maps->resource.subresources.push_back(subresource);
    }
    maps->connectors["proxy"] = std::make_shared<Echo>();
    maps->admission = bindings->admission;
    server_.server->Replace({{{"", "v1"}, 1, 1, {bindings, maps}, ""}});
  }
  Collected Stream(const std::string& method, const std::string& path) {
    rpc::Request request;
    request.method = method;
    request.path = path;
    request.info = meta::ParseRequestInfo(method, path, "");
    Collected stream;
    testing::RunTask(server_.server->Stream(std::move(request), stream));
    return stream;
  }
  TestServer server_;
};

TEST_F(WithoutStore, EveryVerbIs405) {
  const std::string all = "/api/v1/namespaces/default/bindings", one = all + "/a";
  const std::pair<const char*, std::string> requests[] = {{"GET", all},    {"GET", one},    {"POST", all},
                                                          {"PUT", one},    {"PATCH", one},  {"DELETE", one},
                                                          {"DELETE", all}, {"GET", all + "?watch=1"}};
  for (const auto& [method, path] : requests) {
    const Reply reply = server_.Send(method, path, R"({"metadata":{"name":"a"}})");
    EXPECT_EQ(reply.code, 405) << method << " " << path << reply.body;
  }
  EXPECT_EQ(server_.Send("POST", "/api/v1/namespaces/default/configmaps/a/silent", "{}").code, 405);
  EXPECT_EQ(server_.Send("GET", "/api/v1/namespaces/default/configmaps/a/silent").code, 405);
}

TEST_F(WithoutStore, ConnectorsAnswerThemselves) {
  const std::string path = "/api/v1/namespaces/default/configmaps/";
  const Collected answer = Stream("GET", path + "a/proxy");
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body, "GET a");
  EXPECT_EQ(Stream("POST", path + "a/proxy").body, "POST a");
  const Collected refused = Stream("GET", path + "nowhere/proxy");
  EXPECT_EQ(refused.code, 400);
  EXPECT_NE(refused.body.find("no such place"), std::string::npos);
  EXPECT_EQ(Stream("DELETE", path + "a/proxy").code, 405);
}

}  // namespace
}  // namespace apimesh::endpoint
