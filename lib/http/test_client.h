#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/http/client.h"
#include "lib/http/test_certificates.h"
#include "lib/testing/system_clock.h"

/// What the tests of the client and of TLS share.
namespace apimesh::http {

namespace asio = boost::asio;

/// Runs `task` to its end on this thread.
template <class T>
T RunTask(Task<T> task) {
  asio::io_context io;
  std::optional<T> result;
  asio::co_spawn(io, std::move(task), [&result](std::exception_ptr error, T value) {
    if (error) std::rethrow_exception(error);
    result.emplace(std::move(value));
  });
  io.run();
  return std::move(*result);
}

inline SteadyTime In(int seconds) { return testing::SystemClock().Steady() + std::chrono::seconds(seconds); }

inline std::vector<SharedBytes> Bytes(std::string text) {
  std::vector<SharedBytes> pieces;
  pieces.emplace_back(std::move(text));
  return pieces;
}

/// Answers with the method, the path, the body and what is known of the client.
inline Task<> Describe(Request request, ResponseWriter& writer) {
  BodyTerms terms;
  const auto body = co_await writer.ReadBody(std::move(terms));
  std::string text =
      request.method + " " + request.target + " " + (body ? *body : body.error().detail) + " " + request.peer->address;
  if (request.peer->tls)
    text += fmt::format(" sni={} certificates={}", request.peer->sni, request.peer->certificates_der.size());
  Headers headers{{"x-name", "value"}};
  co_await writer.Send(200, std::move(headers), Bytes(text));
}

/// A CA in a folder, and clients and servers that use it.
class ClientFixture : public ::testing::Test {
 protected:
  ClientFixture() : folder_(::testing::TempDir() + "/http_client_test_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    ca_ = MakeCertificate({.common_name = "ca", .is_ca = true});
    Write("ca.crt", ca_.certificate_pem);
    Issue("server", "first", "server.example");
  }
  ~ClientFixture() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) { std::ofstream(File(name)) << text; }
  void Issue(const std::string& file, const std::string& common_name, const std::string& dns) {
    const TestCertificate made =
        MakeCertificate({.common_name = common_name, .dns_names = {dns}, .ip = "127.0.0.1"}, &ca_);
    Write(file + ".crt", made.certificate_pem);
    Write(file + ".key", made.key_pem);
  }
  ServerOptions Tls(const Clock& clock = testing::SystemClock()) const {
    ServerOptions options{.clock = clock};
    options.tls_options.cert_file = File("server.crt");
    options.tls_options.key_file = File("server.key");
    return options;
  }
  ClientOptions Trusting() const {
    ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_file = File("ca.crt");
    return options;
  }
  static std::string Https(const Server& server) { return fmt::format("https://127.0.0.1:{}", server.Port()); }

  std::string folder_;
  TestCertificate ca_;
};

}  // namespace apimesh::http
