#include <gmock/gmock.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/testing_server.h"
#include "lib/mesh/audit_headers.h"

namespace apimesh::endpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Adds warnings and annotations in both phases, records the options of connects, and rejects the name "bad".
class Talkative final : public admission::Plugin {
 public:
  explicit Talkative(std::string* connected) : connected_(connected) {}
  bool Handles(admission::Phase, const admission::Attributes&) const override { return true; }
  Task<meta::Result<>> Mutate(meta::RequestContext ctx, admission::Attributes& attributes) override {
    ctx.Warn("this is discouraged");
    ctx.AddAuditAnnotation("talkative.example.com/why", "first=1");
    if (attributes.operation == admission::Operation::kConnect) {
      *connected_ = codec::WriteJson(attributes.object->Root()) + " " + attributes.kind.kind;
    }
    co_return meta::Result<>();
  }
  Task<meta::Result<>> Validate(meta::RequestContext ctx, const admission::Attributes& attributes) override {
    ctx.AddAuditAnnotation("talkative.example.com/why", "second");
    if (attributes.name == "bad") co_return admission::Forbidden(attributes, "no");
    co_return meta::Result<>();
  }

 private:
  std::string* const connected_;
};

class Accepting final : public registry::Connector {
 public:
  Task<meta::Result<>> Forward(meta::RequestContext, mesh::Request, mesh::ResponseStream& stream) override {
    mesh::Headers none;
    co_await stream.WriteHead(200, std::move(none));
    co_return meta::Result<>();
  }
  Task<meta::Result<>> Upgrade(meta::RequestContext, mesh::Request, mesh::ConnectStream&) override {
    co_return meta::Result<>();
  }
};

std::vector<std::string> Annotations(const mesh::Headers& headers) {
  std::vector<std::string> found;
  for (const auto& [name, value] : headers) {
    if (name == mesh::kAuditAnnotationHeader) found.push_back(value);
  }
  return found;
}

class AdmissionHeaders : public ::testing::Test {
 protected:
  static admission::ChainPtr ChainWith(std::string* connected) {
    std::vector<std::unique_ptr<admission::Plugin>> plugins;
    plugins.push_back(std::make_unique<Talkative>(connected));
    return std::make_shared<const admission::Chain>(std::move(plugins));
  }
  /// Serves subresources of pods with a connector that accepts every request.
  void ServePods() {
    auto pods = std::make_shared<ServedResource>();
    pods->resource.gvk = {"", "v1", "Pod"};
    pods->resource.plural = "pods";
    pods->resource.schema = schema::Builtin().FindKind(pods->resource.gvk);
    for (const auto& [name, kind] :
         {std::pair("exec", "PodExecOptions"), std::pair("attach", "PodAttachOptions"),
          std::pair("portforward", "PodPortForwardOptions"), std::pair("proxy", "PodProxyOptions")}) {
      registry::Subresource subresource;
      subresource.name = name;
      subresource.kind = {"", "v1", kind};
      subresource.schema = schema::Builtin().FindKind(subresource.kind);
      subresource.verbs = {meta::Verb::kCreate, meta::Verb::kGet};
      subresource.takes_path = subresource.name == "proxy";
      subresource.connector = std::make_shared<Accepting>();
      pods->resource.subresources.push_back(subresource);
    }
    pods->admission = ChainWith(&connected_);
    server_.server->Replace({{{"", "v1"}, 1, 1, {pods}, ""}});
  }
  mesh::Response Connect(const std::string& subresource, const std::string& query, const std::string& name = "p") {
    mesh::Request request;
    request.method = "POST";
    request.path = "/api/v1/namespaces/ns/pods/" + name + "/" + subresource;
    request.query = query;
    request.info = meta::ParseRequestInfo(request.method, request.path, request.query);
    mesh::CollectedResponse stream;
    testing::RunTask(server_.server->Stream(std::move(request), stream));
    return stream.Take();
  }

  std::string connected_;
  TestServer server_{ChainWith(&connected_)};
};

TEST_F(AdmissionHeaders, WarningsAndAnnotationsOfPluginsAreInTheAnswer) {
  for (const auto& [body, code] :
       {std::pair(R"({"metadata":{"name":"good"}})", 201), std::pair(R"({"metadata":{"name":"bad"}})", 403)}) {
    const Reply reply = server_.Send("POST", "/api/v1/namespaces/ns/configmaps", body);
    EXPECT_EQ(reply.code, code);
    EXPECT_THAT(reply.Warnings(), ElementsAre(HasSubstr("this is discouraged")));
    EXPECT_THAT(Annotations(reply.headers), ElementsAre("talkative.example.com/why=first=1"));
  }
}

TEST_F(AdmissionHeaders, AlsoWhenAConnectorSendsTheAnswer) {
  ServePods();
  for (const auto& [name, code] : {std::pair("good", 200), std::pair("bad", 403)}) {
    const mesh::Response answer = Connect("exec", "command=ls", name);
    EXPECT_EQ(answer.code, code);
    EXPECT_THAT(Annotations(answer.headers), ElementsAre("talkative.example.com/why=first=1")) << name;
  }
}

TEST_F(AdmissionHeaders, ConnectsShowTheirOptions) {
  ServePods();
  for (
      const auto& [subresource, query, want] : {
          std::tuple(
              "exec", "command=ls&command=-l&container=c&stdin=true&tty=0&nonsense=1",
              R"({"kind":"PodExecOptions","apiVersion":"v1","stdin":true,"container":"c","command":["ls","-l"]} PodExecOptions)"),
          std::tuple("attach", "stdout=1&stderr=false&container=",
                     R"({"kind":"PodAttachOptions","apiVersion":"v1","stdout":true} PodAttachOptions)"),
          std::tuple("portforward", "ports=80,81&ports=82",
                     R"({"kind":"PodPortForwardOptions","apiVersion":"v1","ports":[80,81,82]} PodPortForwardOptions)"),
          std::tuple("proxy", "path=/ignored", R"({"kind":"PodProxyOptions","apiVersion":"v1"} PodProxyOptions)"),
          std::tuple("proxy/", "", R"({"kind":"PodProxyOptions","apiVersion":"v1","path":"/"} PodProxyOptions)"),
          std::tuple("proxy/a/b", "", R"({"kind":"PodProxyOptions","apiVersion":"v1","path":"/a/b"} PodProxyOptions)"),
          std::tuple("proxy/a/", "", R"({"kind":"PodProxyOptions","apiVersion":"v1","path":"/a/"} PodProxyOptions)"),
      }) {
    Connect(subresource, query);
    EXPECT_EQ(connected_, want);
  }
  const mesh::Response answer = Connect("portforward", "ports=http");
  EXPECT_EQ(answer.code, 400);
  EXPECT_EQ(Connect("portforward", "ports=65536").code, 400);
}

}  // namespace
}  // namespace apimesh::endpoint
