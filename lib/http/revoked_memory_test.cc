#include "lib/base/test_memory.h"
#include "lib/http/test_client.h"

namespace apimesh::http {
namespace {

class RevokedMemory : public ClientFixture {};

/// Sends two pieces of shared memory; the second one is revoked while it is copied.
Task<> SendRevocable(Request, ResponseWriter& writer) {
  const std::string a(300'000, 'a'), b(300'000, 'b');
  const auto memory = std::make_shared<TestMemory>();
  co_await writer.Start(200, Headers(), true);
  std::vector<SharedBytes> first(1, SharedBytes::InRevocableMemory(memory, a));
  const bool sent = co_await writer.Write(std::move(first));
  EXPECT_TRUE(sent);
  memory->valid = false;
  std::vector<SharedBytes> second(1, SharedBytes::InRevocableMemory(memory, b));
  const bool sent_again = co_await writer.Write(std::move(second));
  EXPECT_FALSE(sent_again);
}

/// The part that is received of an incomplete response.
std::string ReadRevocable(Client& client, std::string url, Headers headers = {}) {
  std::string seen;
  std::function<Task<bool>(int, Headers)> head = [](int code, Headers) -> Task<bool> { co_return code == 200; };
  Client::PieceFn piece = [&seen](std::string data) -> Task<bool> {
    seen += data;
    co_return true;
  };
  const auto result = RunTask(client.Stream("GET", std::move(url), std::move(headers), "", head, piece, In(10)));
  EXPECT_FALSE(result) << "the answer should have broken off";
  return seen;
}

TEST_F(RevokedMemory, IsNotSent) {
  const auto server = Listen(Tls(), SendRevocable);
  const auto client = NewClient(Trusting());
  EXPECT_EQ(ReadRevocable(*client, Https(*server) + "/"), std::string(300'000, 'a'));
}

TEST_F(RevokedMemory, IsNotCompressed) {
  const auto server = Listen(Tls(), SendRevocable);
  const auto client = NewClient(Trusting());
  const std::string seen = ReadRevocable(*client, Https(*server) + "/", {{"accept-encoding", "gzip"}});
  EXPECT_TRUE(seen.starts_with("\x1f\x8b")) << "the answer is not compressed";
}

TEST_F(RevokedMemory, IsNotSentWithoutTlsEither) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, SendRevocable);
  const auto client = NewClient({.clock = testing::SystemClock()});
  EXPECT_EQ(ReadRevocable(*client, fmt::format("http://127.0.0.1:{}/", server->Port())), std::string(300'000, 'a'));
}

}  // namespace
}  // namespace apimesh::http
