// Access control of etcd: users with passwords, and certificates that are renewed while the client runs.
#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/etcd/client.h"
#include "lib/mesh/test_certificates.h"
#include "lib/testing/etcd_process.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"

namespace apimesh::etcd {
namespace {

using apimesh::testing::EtcdProcess;
using apimesh::testing::RunTask;
using std::chrono::seconds;

using testing::In;
RangeOptions Within(seconds time) { return {.deadline = In(time)}; }

/// Sends a POST to etcd's HTTP gateway. Requests that only tests make need no gRPC client.
void Post(const EtcdProcess& etcd, const std::string& path, const std::string& body) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(etcd.Endpoint().substr(etcd.Endpoint().rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request =
      fmt::format("POST /v3/auth/{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", path,
                  body.size(), body);
  ASSERT_EQ(::write(socket, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = ::read(socket, buffer, sizeof buffer)) > 0;) answer.append(buffer, got);
  ::close(socket);
  ASSERT_THAT(answer, ::testing::StartsWith("HTTP/1.1 200")) << path;
}

/// Returns the error of a write, or an empty string if it succeeded.
Task<std::string> Failure(Client* client, std::string key) {
  auto put = co_await client->Put(std::move(key), "x", 0, In(seconds(10)));
  co_return put ? std::string() : put.error().message;
}
Task<std::string> FirstEvent(Watch* watch) {
  auto batch = co_await watch->Next();
  co_return batch && !batch->events.empty() ? batch->events[0].kv.key : "no event";
}

Task<> UsersOnly(EtcdProcess* etcd) {
  const auto anonymous = NewClient({.clock = testing::SystemClock(), .endpoints = {etcd->Endpoint()}});
  std::string failure = co_await Failure(anonymous.get(), "/u/0");
  EXPECT_NE(failure, "");
  const auto wrong = NewClient(
      {.clock = testing::SystemClock(), .endpoints = {etcd->Endpoint()}, .username = "root", .password = "guess"});
  failure = co_await Failure(wrong.get(), "/u/0");
  EXPECT_NE(failure, "");

  const auto root = NewClient(
      {.clock = testing::SystemClock(), .endpoints = {etcd->Endpoint()}, .username = "root", .password = "secret"});
  failure = co_await Failure(root.get(), "/u/1");
  EXPECT_EQ(failure, "");
  const auto watch = root->OpenWatch({.key = "/u/", .range_end = PrefixEnd("/u/"), .start_revision = 1});
  std::string event = co_await FirstEvent(watch.get());
  EXPECT_EQ(event, "/u/1") << "refused writes must have left nothing";

  etcd->Kill();  // a new etcd process does not know the tokens that the old one issued
  etcd->Start();
  etcd->WaitUntilReady();
  failure = co_await Failure(root.get(), "/u/2");
  // The first attempt may have used the old connection.
  if (!failure.empty()) failure = co_await Failure(root.get(), "/u/2");
  EXPECT_EQ(failure, "");
  event = co_await FirstEvent(watch.get());
  EXPECT_EQ(event, "/u/2");
}

TEST(Users, AuthenticateAndRenewTheirToken) {
  EtcdProcess etcd;
  Post(etcd, "user/add", R"({"name":"root","password":"secret"})");
  Post(etcd, "role/add", R"({"name":"root"})");
  Post(etcd, "user/grant", R"({"user":"root","role":"root"})");
  Post(etcd, "enable", "{}");
  RunTask(UsersOnly(&etcd));
}

Task<bool> Reads(Client* client, seconds time) {
  auto range = co_await client->Range("/t", Within(time));
  co_return range.has_value();
}

TEST(Certificates, AreReloadedWhenTheyChangeOnDisk) {
  std::string pattern = ::testing::TempDir() + "apimesh-etcd-tls-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  const auto write = [&folder](const mesh::TestAuthority& authority) {
    authority.WriteCa(folder / "ca.crt");
    authority.WritePair(folder / "server.crt", folder / "server.key", "etcd");
    authority.WritePair(folder / "client.crt", folder / "client.key", "apimesh");
  };
  const mesh::TestAuthority old_authority, new_authority;
  write(old_authority);
  EtcdProcess::Options options;
  options.scheme = "https";
  options.arguments = {"--cert-file=" + (folder / "server.crt").string(),
                       "--key-file=" + (folder / "server.key").string(),
                       "--trusted-ca-file=" + (folder / "ca.crt").string(), "--client-cert-auth"};
  EtcdProcess etcd(options);
  const auto client = NewClient({.clock = testing::SystemClock(),
                                 .endpoints = {etcd.Endpoint()},
                                 .ca_file = folder / "ca.crt",
                                 .cert_file = folder / "client.crt",
                                 .key_file = folder / "client.key"});
  EXPECT_TRUE(RunTask(Reads(client.get(), seconds(20))));
  const auto stranger =
      NewClient({.clock = testing::SystemClock(), .endpoints = {etcd.Endpoint()}, .ca_file = folder / "ca.crt"});
  EXPECT_FALSE(RunTask(Reads(stranger.get(), seconds(2)))) << "etcd demands a certificate";

  etcd.Kill();
  write(new_authority);  // nothing that the old CA signed is accepted from now on
  etcd.Start();
  etcd.WaitUntilReady();
  EXPECT_TRUE(RunTask(Reads(client.get(), seconds(40))));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace apimesh::etcd
