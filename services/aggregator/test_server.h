#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/http/client.h"
#include "lib/http/test_certificates.h"
#include "lib/testing/system_clock.h"
#include "services/aggregator/filters/priority_and_fairness/options.h"
#include "services/aggregator/server.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {

namespace asio = boost::asio;

/// An aggregator on a free port whose peer processes are fakes. A test sets `options_`, then calls Start().
class AggregatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/aggregator_test_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    ca_ = http::MakeCertificate({.common_name = "ca", .is_ca = true});
    Write("ca.crt", ca_.certificate_pem);
    const auto server = http::MakeCertificate({.common_name = "server", .ip = "127.0.0.1"}, &ca_);
    Write("server.crt", server.certificate_pem);
    Write("server.key", server.key_pem);
    options_.bind_address = "127.0.0.1";
    options_.secure_port = 0;
    // The tests count the requests to the fake servers. tests/e2e/test_fairness.py covers this filter.
    options_.filters.Get<PriorityAndFairnessOptions>().enabled = false;
    options_.tls_cert_file = File("server.crt");
    options_.tls_key_file = File("server.key");
    options_.common.mesh_ca_file = File("ca.crt");
    options_.common.mesh_cert_file = File("server.crt");
    options_.common.mesh_key_file = File("server.key");
    mesh::Description core, extensions;
    core.etag = "1";
    core.group_versions = {DescribeVersion("", "v1", "pods", 1000), DescribeVersion("apps", "v1", "deployments", 500)};
    core.paths = {"/.well-known/openid-configuration"};
    extensions.etag = "1";
    extensions.group_versions = {DescribeVersion("example.com", "v1", "widgets")};
    core_->Describe(core);
    extensions_->Describe(extensions);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) { std::ofstream(File(name)) << text; }
  std::string Read(const std::string& name) const {
    std::ifstream file(File(name));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  void Start() {
    Peers peers{core_, extensions_, authority_, [](InvalidationFn report) -> Task<> {
                  InvalidationNotice notice;
                  notice.heartbeat = std::chrono::hours(1);
                  report(notice);
                  co_return;
                }};
    server_ = std::make_unique<AggregatorServer>(options_, peers, runtime_);
    ASSERT_TRUE(testing::Eventually([this] { return Get("/readyz", "admin").code == 200; }));
  }

  http::ClientResponse Do(std::string method, std::string path, http::Headers headers, std::string body = "") {
    return DoAt(server_->Port(), std::move(method), std::move(path), std::move(headers), std::move(body), "");
  }
  http::ClientResponse DoAt(int port, std::string method, std::string path, http::Headers headers, std::string body,
                            std::string certificate) {
    http::ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_file = File("ca.crt");
    if (!certificate.empty()) {
      options.tls.cert_file = File(certificate + ".crt");
      options.tls.key_file = File(certificate + ".key");
    }
    const auto client = http::NewClient(options);
    asio::io_context io;
    http::ClientResponse response;
    const std::string url = fmt::format("https://127.0.0.1:{}{}", port, path);
    asio::co_spawn(io,
                   client->Do(method, url, headers, body, testing::SystemClock().Steady() + std::chrono::seconds(20)),
                   [&response](std::exception_ptr, http::ClientResult<http::ClientResponse> result) {
                     if (result) response = std::move(*result);
                   });
    io.run();
    return response;
  }
  /// Requests an upgrade to SPDY and returns the response.
  http::ClientResponse RequestUpgrade(std::string method, std::string path) {
    http::ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_file = File("ca.crt");
    const auto client = http::NewClient(options);
    const http::Headers headers{{"authorization", "Bearer admin"}, {"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}};
    const std::string url = fmt::format("https://127.0.0.1:{}{}", server_->Port(), path);
    asio::io_context io;
    http::Client::Upgraded upgraded;
    asio::co_spawn(io,
                   client->Upgrade(method, url, headers, testing::SystemClock().Steady() + std::chrono::seconds(20)),
                   [&upgraded](std::exception_ptr, http::ClientResult<http::Client::Upgraded> result) {
                     if (result) upgraded = std::move(*result);
                   });
    io.run();
    return std::move(upgraded.response);
  }
  http::ClientResponse Get(std::string path, std::string user, http::Headers headers = {}) {
    headers.emplace_back("authorization", "Bearer " + user);
    return Do("GET", std::move(path), std::move(headers));
  }

  std::string folder_;
  http::TestCertificate ca_;
  Options options_;
  std::shared_ptr<FakeDelegate> core_ = std::make_shared<FakeDelegate>("core"),
                                extensions_ = std::make_shared<FakeDelegate>("extensions");
  std::shared_ptr<FakeAuthority> authority_ = std::make_shared<FakeAuthority>();
  service::Runtime runtime_{"aggregator", service::CommonFlags(), testing::SystemClock()};
  std::unique_ptr<AggregatorServer> server_;
};

}  // namespace apimesh::aggregator
