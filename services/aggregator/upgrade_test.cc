// Tests upgraded connections end to end: a TLS client, the edge, gRPC, and a server of the chain.
#include <filesystem>
#include <fstream>
#include <future>

#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "lib/http/client.h"
#include "lib/http/test_certificates.h"
#include "lib/mesh/delegate/delegate_server.h"
#include "lib/testing/system_clock.h"
#include "services/aggregator/server.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;

/// Switches protocols like a kubelet: first sends a summary of the request, then echoes. It closes the connection on
/// "bye".
class EchoServer final : public mesh::DelegateHandler {
 public:
  Task<mesh::Response> Call(mesh::Request&&) override { co_return mesh::Response::Error(meta::GenericNotFound()); }
  Task<> Stream(mesh::Request, mesh::ResponseStream&) override { co_return; }
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override {
    mesh::Response head;
    if (request.info.name == "absent") {
      const meta::GroupResource pods{"", "pods"};
      head = mesh::Response::Error(meta::NotFound(pods, "absent"));
      co_await stream->Answer(std::move(head));
      co_return;
    }
    head.code = 101;
    head.headers.emplace_back("upgrade", std::string(request.Header("upgrade")));
    if (const auto key = request.Header("sec-websocket-key"); !key.empty())
      head.headers.emplace_back("sec-websocket-accept", "of " + std::string(key));
    co_await stream->Answer(std::move(head));
    std::string greeting =
        fmt::format("{} {}/{} as {} protocol={};", request.method, request.info.name, request.info.subresource,
                    request.user.name, request.Header("sec-websocket-protocol"));
    co_await stream->Write(std::move(greeting));
    for (;;) {
      auto data = co_await stream->Read();
      if (!data || data->empty() || *data == "bye") break;
      co_await stream->Write(std::move(*data));
    }
    ended.set_value();
  }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override {
    mesh::Description description;
    description.etag = "1";
    description.group_versions = {DescribeVersion("", "v1", "pods", 1000)};
    changed(description);
    return nullptr;
  }
  std::promise<void> ended;
};

class Upgrade : public ::testing::Test {
 protected:
  Upgrade() {
    std::string pattern = ::testing::TempDir() + "apimesh-upgrade-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const auto ca = http::MakeCertificate({.common_name = "ca", .is_ca = true});
    const auto pair = http::MakeCertificate({.common_name = "server", .ip = "127.0.0.1"}, &ca);
    Write("ca.crt", ca.certificate_pem);
    Write("server.crt", pair.certificate_pem);
    Write("server.key", pair.key_pem);
    const std::string socket = "unix:" + (folder_ / "s" / "core.sock").string();
    delegate_ = mesh::ServeDelegate({{socket, "", "", ""}}, echo_, {&runtime_.Io()}, testing::SystemClock());
    auto extensions = std::make_shared<FakeDelegate>("extensions");
    extensions->Describe(mesh::Description{.etag = "1"});
    Options options;
    options.bind_address = "127.0.0.1";
    options.secure_port = 0;
    options.tls_cert_file = folder_ / "server.crt";
    options.tls_key_file = folder_ / "server.key";
    Peers peers{mesh::NewDelegateClient({.target = socket}, runtime_.Executor(), testing::SystemClock()), extensions,
                authority_, [this](InvalidationFn report) { return Hear(this, std::move(report)); }};
    edge_ = std::make_unique<AggregatorServer>(options, peers, runtime_);
    http::ClientOptions trusting{.clock = testing::SystemClock()};
    trusting.tls.ca_file = folder_ / "ca.crt";
    client_ = http::NewClient(trusting);
  }
  ~Upgrade() override {
    edge_.reset();
    delegate_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  static Task<> Hear(Upgrade* self, InvalidationFn report) {
    self->report_ = std::move(report);
    self->report_(InvalidationNotice{.revision = kAuthorityRevision});
    co_return;
  }
  /// Revokes all permissions and reports the change as authn-authz does.
  void Revoke() {
    asio::post(runtime_.Io(), [this] {
      authority_->allowed.clear();
      report_(InvalidationNotice{.revision = kAuthorityRevision, .authorization = true});
    });
  }
  /// Revokes the permission while the connection is in use.
  struct RevokingTalk {
    Upgrade* test;
    Task<std::string> operator()(http::Client::Upgraded upgraded) const {
      const std::string greeting = "POST x/exec as joe protocol=;";
      const std::string seen = co_await ReadUntil(upgraded.connection.get(), greeting.size());
      test->Revoke();
      const std::string rest = co_await upgraded.connection->Read();
      co_return seen + (rest.empty() ? " closed" : " open");
    }
  };

  /// Runs `talk` on the upgraded connection.
  template <class Talk>
  std::string Talked(std::string method, std::string path, http::Headers headers, Talk talk) {
    const std::string url = fmt::format("https://127.0.0.1:{}{}", edge_->Port(), path);
    headers.emplace_back("connection", "Upgrade");
    asio::io_context io{1};
    auto result =
        asio::co_spawn(io, Run(client_.get(), std::move(method), url, std::move(headers), talk), asio::use_future);
    io.run();
    return result.get();
  }
  template <class Talk>
  static Task<std::string> Run(http::Client* client, std::string method, std::string url, http::Headers headers,
                               Talk talk) {
    const SteadyTime deadline = testing::SystemClock().Steady() + std::chrono::seconds(20);
    auto upgraded = co_await client->Upgrade(std::move(method), std::move(url), std::move(headers), deadline);
    if (!upgraded) co_return "error: " + upgraded.error().message;
    if (!upgraded->connection) co_return fmt::format("{} {}", upgraded->response.code, upgraded->response.body);
    co_return co_await talk(std::move(*upgraded));
  }
  static Task<std::string> ReadUntil(http::RawConnection* connection, std::size_t size) {
    std::string all;
    while (all.size() < size) {
      std::string piece = co_await connection->Read();
      if (piece.empty()) break;
      all += piece;
    }
    co_return all;
  }

  static constexpr std::int64_t kAuthorityRevision = 1;  // the revision of FakeAuthority's answers
  const std::shared_ptr<FakeAuthority> authority_ = std::make_shared<FakeAuthority>();
  InvalidationFn report_;  // used on the runtime's thread only
  service::Runtime runtime_{"aggregator", service::CommonFlags(), testing::SystemClock()};
  std::filesystem::path folder_;
  std::shared_ptr<EchoServer> echo_ = std::make_shared<EchoServer>();
  std::unique_ptr<mesh::DelegateServer> delegate_;
  std::unique_ptr<AggregatorServer> edge_;
  std::unique_ptr<http::Client> client_;
};

constexpr char kExec[] = "/api/v1/namespaces/a/pods/x/exec?command=sh";

TEST_F(Upgrade, SpdyIsARawTunnelInBothDirections) {
  const auto talk = [](http::Client::Upgraded upgraded) -> Task<std::string> {
    http::RawConnection* tunnel = upgraded.connection.get();
    const std::string greeting = "POST x/exec as admin protocol=;";
    std::string seen = co_await ReadUntil(tunnel, greeting.size());
    const std::string large = std::string(1 << 20, 'x') + std::string(1, '\0') + "end";
    co_await tunnel->Write(large);
    const std::string echoed = co_await ReadUntil(tunnel, large.size());
    if (echoed != large) co_return fmt::format("{} bytes came back of {}", echoed.size(), large.size());
    co_await tunnel->Write("bye");
    const std::string rest = co_await tunnel->Read();
    co_return seen + std::string(upgraded.response.Header("upgrade")) + (rest.empty() ? " closed" : " open");
  };
  EXPECT_EQ(Talked("POST", kExec, {{"authorization", "Bearer admin"}, {"upgrade", "SPDY/3.1"}}, talk),
            "POST x/exec as admin protocol=;SPDY/3.1 closed");
}

TEST_F(Upgrade, EndsWhenThePermissionIsGone) {
  authority_->allowed = {"joe create pods"};
  EXPECT_EQ(Talked("POST", kExec, {{"authorization", "Bearer joe"}, {"upgrade", "SPDY/3.1"}}, RevokingTalk{this}),
            "POST x/exec as joe protocol=; closed");
}

TEST_F(Upgrade, WebSocketKeepsItsHeadersAndHidesTheToken) {
  const auto talk = [](http::Client::Upgraded upgraded) -> Task<std::string> {
    http::RawConnection* tunnel = upgraded.connection.get();
    std::string seen = co_await tunnel->Read();
    co_await tunnel->Write("\x81\x05hello");
    seen += co_await ReadUntil(tunnel, 7);
    co_return seen + " " + std::string(upgraded.response.Header("sec-websocket-accept"));
  };
  const http::Headers headers{
      {"authorization", "Bearer admin"},
      {"upgrade", "websocket"},
      {"sec-websocket-key", "a2V5"},
      {"sec-websocket-version", "13"},
      {"sec-websocket-protocol", "v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0"}};
  EXPECT_EQ(Talked("GET", kExec, headers, talk),
            "GET x/exec as admin protocol=v5.channel.k8s.io;\x81\x05hello of a2V5");
}

TEST_F(Upgrade, ClientThatGoesEndsTheOtherSide) {
  const auto talk = [](http::Client::Upgraded upgraded) -> Task<std::string> {
    co_await upgraded.connection->Read();
    upgraded.connection->Close();
    co_return "gone";
  };
  EXPECT_EQ(Talked("POST", kExec, {{"authorization", "Bearer admin"}, {"upgrade", "SPDY/3.1"}}, talk), "gone");
  EXPECT_EQ(echo_->ended.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST_F(Upgrade, RefusalIsAnOrdinaryAnswer) {
  const auto talk = [](http::Client::Upgraded) -> Task<std::string> { co_return "upgraded"; };
  EXPECT_THAT(Talked("POST", "/api/v1/namespaces/a/pods/absent/exec",
                     {{"authorization", "Bearer admin"}, {"upgrade", "SPDY/3.1"}}, talk),
              HasSubstr(R"(pods \"absent\" not found)"));
  EXPECT_THAT(Talked("POST", kExec, {{"authorization", "Bearer jane"}, {"upgrade", "SPDY/3.1"}}, talk),
              HasSubstr("403 "));
  EXPECT_THAT(Talked("POST", kExec, {{"authorization", "Bearer bad"}, {"upgrade", "SPDY/3.1"}}, talk),
              HasSubstr("401 "));
}

}  // namespace
}  // namespace apimesh::aggregator
