// Who a client is, and by which listener it may say so.
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>

#include "services/aggregator/filters/authentication/authentication.h"
#include "services/aggregator/test_server.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;

TEST_F(AggregatorTest, IdentityHeadersOfAnyNameGoToAuthnAuthzAndNoFurther) {
  IdentityHeaders& headers = options_.filters.Get<IdentityHeaders>();
  headers.username = {"X-My-User"};
  headers.group = {"X-My-Group"};
  headers.extra_prefixes = {"X-My-Extra-"};
  Start();
  const http::Headers sent{{"x-my-user", "mallory"},
                           {"x-my-group", "system:masters"},
                           {"x-my-extra-scope", "all"},
                           {"x-remote-user", "mallory"},
                           {"x-other", "stays"}};
  Get("/api/v1/namespaces/a/pods/x/proxy/y", "admin", sent);
  for (const char* name : {"x-my-user", "x-my-group", "x-my-extra-scope", "x-remote-user"}) {
    EXPECT_THAT(authority_->last_headers, ::testing::Contains(::testing::Pair(name, ::testing::_)));
    EXPECT_EQ(core_->Requests().back().Header(name), "") << name;
  }
  EXPECT_EQ(core_->Requests().back().Header("x-other"), "stays");
  EXPECT_EQ(core_->Requests().back().user.name, "admin");
}

TEST_F(AggregatorTest, AuthenticatesAndAuthorizes) {
  authority_->allowed = {"jane get pods"};
  Start();
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "jane").code, 200);
  const auto forbidden = Get("/api/v1/namespaces/a/pods", "jane");
  EXPECT_EQ(forbidden.code, 403);
  EXPECT_THAT(
      forbidden.body,
      HasSubstr(
          R"(pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \"a\")"));
  EXPECT_EQ(Get("/api/v1/pods", "bad").code, 401);
  EXPECT_THAT(Get("/x", "jane").body, HasSubstr(R"(forbidden: User \"jane\" cannot get path \"/x\")"));
  authority_->available = false;
  const auto closed = Get("/api/v1/namespaces/a/pods/x", "jane");
  EXPECT_EQ(closed.code, 503);
  EXPECT_EQ(closed.Header("retry-after"), "1");
  EXPECT_EQ(Get("/livez", "jane").code, 200) << "a probe must reach the edge even then";
}

TEST_F(AggregatorTest, NoCredentialOrForgedIdentityGoesFurther) {
  Start();
  const http::Headers headers{{"authorization", "Bearer admin"},    {"x-remote-user", "root"},
                              {"x-remote-group", "system:masters"}, {"x-forwarded-client-cert", "Hash=1"},
                              {"accept", "application/json"},       {"cookie", "c"}};
  EXPECT_EQ(Do("GET", "/api/v1/pods", headers).code, 200);
  const mesh::Request seen = core_->Requests().back();
  EXPECT_EQ(seen.user.name, "admin");
  EXPECT_EQ(seen.headers, (mesh::Headers{{"accept", "application/json"}}));
}

TEST_F(AggregatorTest, ImpersonatesWithTheRightTo) {
  authority_->allowed = {"jane impersonate users", "bob get pods"};
  Start();
  EXPECT_THAT(Get("/api/v1/namespaces/a/pods/x", "jane", {{"impersonate-user", "bob"}}).body, HasSubstr("as bob"));
  EXPECT_THAT(core_->Requests().back().user.groups, ::testing::ElementsAre("system:authenticated"));
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "jane", {{"impersonate-user", "bob"}, {"impersonate-group", "g"}}).code,
            403);
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "jane", {{"impersonate-group", "g"}}).code, 400);
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "bob", {{"impersonate-user", "admin"}}).code, 403);
}

TEST_F(AggregatorTest, FrontProxyPortIsForEnvoyOnly) {
  {
    http::ServerOptions any{.clock = testing::SystemClock()};  // a free port for the second listener
    any.tls = false;
    options_.mesh_port = http::Listen(any, [](http::Request, http::ResponseWriter&) -> Task<> { co_return; })->Port();
  }
  Start();
  const auto envoy = http::MakeCertificate({.common_name = "envoy", .uri = "spiffe://apimesh/envoy"}, &ca_);
  Write("envoy.crt", envoy.certificate_pem);
  Write("envoy.key", envoy.key_pem);
  const auto member = http::MakeCertificate({.common_name = "apimesh-envoy", .uri = "spiffe://apimesh/core-api"}, &ca_);
  Write("member.crt", member.certificate_pem);
  Write("member.key", member.key_pem);
  std::string encoded;
  for (const char c : envoy.certificate_pem)
    encoded += c == '\n' ? "%0A" : c == '+' ? "%2B" : c == ' ' ? "%20" : c == '=' ? "%3D" : std::string(1, c);
  const http::Headers headers{{"authorization", "Bearer admin"},
                              {"x-forwarded-client-cert", "Hash=abc;Cert=\"" + encoded + "\""},
                              {"x-forwarded-for", "10.1.2.3"}};
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "envoy").code, 200);
  EXPECT_EQ(authority_->last_certificates.size(), 1u);
  EXPECT_EQ(core_->Requests().back().remote_address, "10.1.2.3");
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "").code, 0)
      << "no mesh certificate, no answer";
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "member").code, 0)
      << "another process of the mesh is not a front proxy";
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "envoy").code, 200);
  EXPECT_EQ(Do("GET", "/api/v1/pods", headers).code, 200);
  EXPECT_TRUE(authority_->last_certificates.empty()) << "the public listener trusts no identity headers";
}

TEST_F(AggregatorTest, FrontProxySocketBelievesXfcc) {
  options_.front_proxy_socket = "unix:" + File("edge.sock");
  Start();
  const std::filesystem::perms anyone = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  EXPECT_EQ(std::filesystem::status(File("edge.sock")).permissions() & anyone, std::filesystem::perms::none);
  std::string encoded;
  for (const char c : ca_.certificate_pem) encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  boost::asio::io_context io;
  boost::asio::local::stream_protocol::socket socket(io);
  socket.connect(File("edge.sock"));
  boost::asio::write(
      socket,
      boost::asio::buffer("GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nConnection: close\r\n"
                          "X-Forwarded-For: 10.1.2.3\r\nX-Forwarded-Client-Cert: Hash=abc;Cert=\"" +
                          encoded + "\"\r\n\r\n"));
  std::string answer;
  boost::system::error_code end;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), end);
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 "));
  EXPECT_EQ(authority_->last_certificates.size(), 1u);
  EXPECT_EQ(core_->Requests().back().remote_address, "10.1.2.3");
}

}  // namespace
}  // namespace apimesh::aggregator
