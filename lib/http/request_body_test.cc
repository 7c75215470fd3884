#include "lib/http/request_body.h"

#include <future>
#include <thread>

#include "lib/http/refusal.h"
#include "lib/http/test_raw_client.h"
#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

/// Responds with the body of the request, except below /denied, where the body is not read.
Task<> Serve(Request request, ResponseWriter& writer) {
  if (request.target.starts_with("/denied")) {
    Headers headers;
    std::vector<SharedBytes> text;
    text.emplace_back(std::string("not asked for"));
    co_await writer.Send(401, std::move(headers), std::move(text));
    co_return;
  }
  std::string text = request.method + " ";
  if (writer.HasBody()) {
    BodyTerms terms{.deadline = SteadyTime::max(), .owner = std::string(request.Header("user"))};
    const auto body = co_await writer.ReadBody(std::move(terms));
    if (!body) {
      const Refusal refusal = body.error();
      const RefusalBodyFn plain = &PlainRefusalBody;
      co_await SendRefusal(writer, refusal, plain);
      co_return;
    }
    text += body->size() > 100 ? std::to_string(body->size()) : *body;
  }
  Headers headers;
  std::vector<SharedBytes> answer;
  answer.emplace_back(text + "!");
  co_await writer.Send(200, std::move(headers), std::move(answer));
}

std::unique_ptr<Server> Start(Limits limits = {}) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  options.limits = std::move(limits);
  return Listen(std::move(options), Serve);
}

/// The response to the next request on the same connection.
std::string NextAnswer(RawClient& client) { return client.ReadUntil("not asked for"); }

TEST(RequestBody, RefusedRequestIsAnsweredBeforeItsBody) {
  const auto server = Start();
  for (const char* length : {"Content-Length: 3000000", "Content-Length: 1000000000", "Transfer-Encoding: chunked"}) {
    RawClient client(server->Port());
    client.Send(std::string("POST /denied HTTP/1.1\r\nHost: a\r\n") + length + "\r\n\r\n");
    const std::string answer = client.ReadUntil("");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 401")) << length << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << length;
    EXPECT_EQ(answer.find("100 Continue"), std::string::npos);
  }
}

TEST(RequestBody, RefusedRequestGetsNoContinue) {
  const auto server = Start();
  RawClient client(server->Port());
  client.Send("POST /denied HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  const std::string answer = client.ReadUntil("");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401")) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << "the client may or may not send the body";
}

TEST(RequestBody, ContinueIsSentWhenTheBodyIsWanted) {
  const auto server = Start();
  RawClient client(server->Port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("hello");
  EXPECT_TRUE(client.ReadUntil("!").ends_with("POST hello!"));
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_TRUE(client.ReadUntil("!").starts_with("HTTP/1.1 200")) << "a body that is here needs no leave";
}

struct SkipCase {
  const char* name;
  std::string head, body;
  bool keeps;  // the connection serves the next request
};
class SkippedBody : public ::testing::TestWithParam<SkipCase> {};

/// The bytes after the body are the next request, regardless of the content of the body.
TEST_P(SkippedBody, IsNeverReadAsARequest) {
  const auto server = Start();
  const auto& [name, head, body, keeps] = GetParam();
  RawClient client(server->Port());
  client.Send("POST /denied HTTP/1.1\r\nHost: a\r\n" + head + "\r\n\r\n");
  client.TrySend(body.substr(0, body.size() / 2));
  const std::string first = NextAnswer(client);
  EXPECT_TRUE(first.starts_with("HTTP/1.1 401")) << first;
  EXPECT_EQ(first.find("Connection: close") == std::string::npos, keeps) << first;
  client.TrySend(body.substr(body.size() / 2));
  client.TrySend("POST /after HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
  const std::string rest = client.ReadUntil("POST hi!");
  EXPECT_EQ(rest.ends_with("POST hi!"), keeps) << rest;
  EXPECT_EQ(rest.find("HTTP/1.1 200"), keeps ? rest.find("HTTP/1.1") : std::string::npos) << rest;
}
const std::string kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const SkipCase kSkipCases[] = {
    {"Short", "Content-Length: 36", kSmuggled + "xx", true},
    {"Long", "Content-Length: 200000", kSmuggled + std::string(200'000 - kSmuggled.size(), 'x'), true},
    {"TooLong", "Content-Length: 2000000", kSmuggled + std::string(2'000'000 - kSmuggled.size(), 'x'), false},
    {"Chunks", "Transfer-Encoding: chunked", "24\r\n" + kSmuggled + "xx" + "\r\n0\r\n\r\n", false},
    {"EndlessChunks", "Transfer-Encoding: chunked", "24\r\n" + kSmuggled + "xx" + "\r\nfffff\r\nx", false},
};
INSTANTIATE_TEST_SUITE_P(Table, SkippedBody, ::testing::ValuesIn(kSkipCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RequestBody, RefusedChunksThatCameWithTheHeadKeepTheConnection) {
  const auto server = Start();
  RawClient client(server->Port());
  client.Send(
      "POST /denied HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nPOST / "
      "HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
  const std::string answers = client.ReadUntil("POST hi!");
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 401"));
  EXPECT_TRUE(answers.ends_with("POST hi!")) << answers;
}

TEST(RequestBody, SlowBodyEndsInTime) {
  Limits limits;
  limits.header_timeout = std::chrono::milliseconds(200);  // determines how often deadlines are checked
  limits.body_timeout = std::chrono::milliseconds(150);
  const auto server = Start(limits);
  RawClient client(server->Port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  std::thread trickle([&client] {
    while (client.TrySend("x")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  const std::string answer = client.ReadUntil("");
  client.ShutdownWrite();  // not Close(), since the thread still uses the descriptor
  trickle.join();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 504")) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
}

TEST(RequestBody, BrokenOffBodyIsNotServed) {
  const auto server = Start();
  RawClient client(server->Port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
  client.ShutdownWrite();
  const std::string answer = client.ReadUntil("");
  EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos) << answer;
}

TEST(RequestBody, ChunkExtensionsAreLimited) {
  const auto server = Start();
  RawClient client(server->Port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "1;x=" + std::string(1000, 'e') + "\r\na\r\n";
  bool taken = true;
  for (int i = 0; i < 10'000 && taken; ++i) taken = client.TrySend(chunk);
  EXPECT_FALSE(taken) << "10 MB for a body of 10 kB";
  EXPECT_TRUE(client.ReadUntil("").starts_with("HTTP/1.1 400"));
}

TEST(RequestBody, BodiesShareABudget) {
  Limits limits;
  limits.bodies = std::make_shared<BodyBudget>(4 << 20);
  limits.body_timeout = std::chrono::seconds(20);
  const auto server = Start(limits);
  const auto begin = [&](const char* user, int size) {
    auto client = std::make_unique<RawClient>(server->Port());
    client->Send("POST / HTTP/1.1\r\nHost: a\r\nUser: " + std::string(user) +
                 "\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
    return client;
  };
  const auto wait_for = [&](std::size_t bytes) {
    return testing::Eventually([&] { return limits.bodies->Taken() == bytes; });
  };
  auto first = begin("jane", 1 << 20);
  ASSERT_TRUE(wait_for(1 << 20));
  EXPECT_TRUE(begin("jane", 100'000)->ReadUntil("\"code\":429}").starts_with("HTTP/1.1 429")) << "her share is used up";
  EXPECT_NE(begin("jane", 100'000)->ReadUntil("\"code\":429}").find("Retry-After: 1\r\n"), std::string::npos);
  auto small = begin("jane", 2);
  small->Send("hi");
  EXPECT_TRUE(small->ReadUntil("!").ends_with("POST hi!")) << "small bodies are not counted";
  auto second = begin("joe", 2 << 20);
  ASSERT_TRUE(wait_for(3 << 20));
  EXPECT_TRUE(begin("jim", 2 << 20)->ReadUntil("\"code\":429}").starts_with("HTTP/1.1 429")) << "nothing is left";
  first->Send(std::string(1 << 20, 'x'));
  EXPECT_TRUE(first->ReadUntil("!").ends_with("POST 1048576!"));
  second->Close();
  EXPECT_TRUE(wait_for(0)) << "what ends, in whichever way, gives its memory back";
}

}  // namespace
}  // namespace apimesh::http
