#include "lib/http/server.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/gzip/test_gunzip.h"
#include "lib/http/refusal.h"
#include "lib/http/test_raw_client.h"
#include "lib/testing/system_clock.h"
#include "lib/testing/temp_path.h"

namespace apimesh::http {
namespace {

std::vector<SharedBytes> Bytes(std::initializer_list<std::string> texts) {
  std::vector<SharedBytes> pieces;
  for (const std::string& text : texts) pieces.emplace_back(text);
  return pieces;
}

std::string Dechunk(std::string_view wire) {
  std::string_view rest = wire.substr(wire.find("\r\n\r\n") + 4);
  std::string body;
  while (true) {
    const std::size_t size = std::strtoull(std::string(rest.substr(0, rest.find("\r\n"))).c_str(), nullptr, 16);
    if (size == 0) return body;
    rest.remove_prefix(rest.find("\r\n") + 2);
    body += rest.substr(0, size);
    rest.remove_prefix(size + 2);
  }
}

Task<> Echo(Request request, ResponseWriter& writer) {
  std::string text = request.method + " " + request.target + " ";
  if (writer.HasBody()) {
    BodyTerms terms;
    const auto body = co_await writer.ReadBody(std::move(terms));
    if (!body) {
      const Refusal refusal = body.error();
      const RefusalBodyFn plain = &PlainRefusalBody;
      co_await SendRefusal(writer, refusal, plain);
      co_return;
    }
    text += *body;
  }
  Headers headers{{"content-type", "text/plain"}, {"x-evil", "a\r\nb: c"}};
  std::vector<SharedBytes> body = Bytes({text, "!"});
  co_await writer.Send(200, std::move(headers), std::move(body));
}

std::unique_ptr<Server> Plain(Handler handler, Limits limits = {}) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  options.limits = limits;
  return Listen(std::move(options), std::move(handler));
}

TEST(HttpServer, AnswersAndKeepsTheConnection) {
  const auto server = Plain(Echo);
  RawClient client(server->Port());
  for (int i = 0; i < 3; ++i) {
    client.Send("POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    const std::string answer = client.ReadUntil("!");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
    EXPECT_NE(answer.find("Content-Type: text/plain\r\n"), std::string::npos);
    EXPECT_NE(answer.find("\r\nContent-Length: 15\r\n"), std::string::npos) << answer;
    EXPECT_TRUE(answer.ends_with("POST /a?b=c hi!"));
    EXPECT_EQ(answer.find("\r\nb: c"), std::string::npos) << "a value must not make headers";
  }
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  const auto server = Plain(Echo);
  RawClient client(server->Port());
  std::string wire;
  for (int i = 0; i < 20; ++i) wire += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  client.Send(wire);
  const std::string answers = client.ReadUntil("GET /19 !");
  std::size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = answers.find("GET /" + std::to_string(i) + " !", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
}

TEST(HttpServer, ReadsChunkedBodiesAndExpectContinue) {
  const auto server = Plain(Echo);
  RawClient client(server->Port());
  client.Send("PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("3\r\nabc\r\n");
  client.Send("2;x=y\r\nde\r\n0\r\ntrailer: t\r\n\r\n");
  EXPECT_TRUE(client.ReadUntil("!").ends_with("PUT / abcde!"));
}

TEST(HttpServer, HeadHasLengthButNoBody) {
  const auto server = Plain(Echo);
  RawClient client(server->Port());
  client.Send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadUntil("");
  EXPECT_NE(answer.find("Content-Length: 8\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

struct BadCase {
  const char* name;
  std::string wire;
  const char* status;
  bool in_body = false;  // the error is detected when the handler reads the body
};
class HttpServerRefuses : public ::testing::TestWithParam<BadCase> {};

TEST_P(HttpServerRefuses, AndCloses) {
  Limits limits;
  limits.header_bytes = 4096;
  limits.body_bytes = 1000;
  bool called = false;
  const auto server = Plain(
      [&called](Request request, ResponseWriter& writer) {
        called = true;
        return Echo(std::move(request), writer);
      },
      limits);
  RawClient client(server->Port());
  client.Send(GetParam().wire);
  const std::string answer = client.ReadUntil("");
  EXPECT_TRUE(answer.starts_with(std::string("HTTP/1.1 ") + GetParam().status)) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(called, GetParam().in_body);
}
const BadCase kBadCases[] = {
    {"Garbage", "\x16\x03\x01\x02\r\n\r\n", "400"},
    {"NoHost", "GET / HTTP/1.1\r\n\r\n", "400"},
    {"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
    {"LengthAndChunks",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
    {"ChunksAndLength",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "400"},
    {"TwoLengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "400"},
    {"NegativeLength", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\n", "400"},
    {"UnknownTransferEncoding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"},
    {"ListedTransferEncoding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501"},
    {"BadChunkSize", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400", true},
    {"SpaceBeforeColon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"},
    {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"},
    {"HeadersTooLarge", "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", "431"},
    {"BodyTooLarge", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", "413", true},
    {"ChunksTooLarge", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", "413", true},
};
INSTANTIATE_TEST_SUITE_P(Table, HttpServerRefuses, ::testing::ValuesIn(kBadCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HttpServer, TooLargeBodyIsRefusedWithTheLimit) {
  const auto server = Plain(Echo);
  RawClient client(server->Port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3145729\r\n\r\nsome of it");
  const std::string answer = client.ReadUntil("");
  EXPECT_NE(answer.find("limit is 3145728"), std::string::npos) << answer;
}

Task<> StreamThree(Request, ResponseWriter& writer) {
  co_await writer.Start(200, Headers(), true);
  const std::vector<std::string> texts{"one", "two", "three"};
  for (const std::string& text : texts) {
    std::vector<SharedBytes> pieces = Bytes({text, "\n"});
    co_await writer.Write(std::move(pieces));
  }
  co_await writer.Finish();
}

TEST(HttpServer, StreamsInChunks) {
  const auto server = Plain(StreamThree);
  RawClient client(server->Port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string answer = client.ReadUntil("0\r\n\r\n");
  EXPECT_NE(answer.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(Dechunk(answer), "one\ntwo\nthree\n");
}

TEST(HttpServer, StreamsCompressedWhereAsked) {
  const auto server = Plain(StreamThree);
  RawClient client(server->Port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: deflate, gzip;q=1.0\r\n\r\n");
  const std::string answer = client.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_NE(answer.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_EQ(gzip::Gunzip(Dechunk(answer)), "one\ntwo\nthree\n");
}

TEST(HttpServer, CompressesLargeAnswersOnly) {
  const std::string large(200 << 10, 'a');
  const auto server = Plain([&large](Request request, ResponseWriter& writer) -> Task<> {
    std::vector<SharedBytes> body = Bytes({request.target == "/large" ? large : "small"});
    co_await writer.Send(200, Headers(), std::move(body));
  });
  RawClient client(server->Port());
  client.Send("GET /small HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("small").find("gzip"), std::string::npos);
  client.Send("GET /large HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(gzip::Gunzip(Dechunk(client.ReadUntil("\r\n0\r\n\r\n"))), large);
}

TEST(HttpServer, ThrowingOrSilentHandlersGive500) {
  const auto server = Plain([](Request request, ResponseWriter&) -> Task<> {
    if (request.target == "/throw") throw std::runtime_error("boom");
    co_return;
  });
  RawClient client(server->Port());
  client.Send("GET /throw HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(client.ReadUntil("\r\n\r\n500 Internal Server Error").starts_with("HTTP/1.1 500"));
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(client.ReadUntil("\r\n\r\n500 Internal Server Error").starts_with("HTTP/1.1 500"));
}

TEST(HttpServer, TellsTheHandlerThatTheClientWentAway) {
  std::promise<void> gone, started;
  const auto server = Plain([&](Request, ResponseWriter& writer) -> Task<> {
    auto timer =
        std::make_shared<boost::asio::steady_timer>(co_await boost::asio::this_coro::executor, std::chrono::hours(1));
    writer.OnDisconnect([&gone, timer] {
      gone.set_value();
      timer->cancel();
    });
    co_await writer.Start(200, Headers(), false);
    started.set_value();
    boost::system::error_code ignored;
    try {
      co_await timer->async_wait(boost::asio::use_awaitable);
    } catch (const boost::system::system_error&) {}
  });
  RawClient client(server->Port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  started.get_future().wait();
  client.Close();
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(HttpServer, SlowReaderHoldsTheWriterBack) {
  std::atomic<int> written{0};
  std::promise<void> ended;
  const auto server = Plain([&](Request, ResponseWriter& writer) -> Task<> {
    co_await writer.Start(200, Headers(), false);
    const SharedBytes piece(std::string(64 << 10, 'x'));
    std::vector<SharedBytes> pieces{piece};
    while (written < 10'000 && co_await writer.Write(pieces)) {
      ++written;
    }
    ended.set_value();
  });
  RawClient client(server->Port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  int before = -1;
  while (written != before) {  // until the writer stalls
    before = written;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(written, 1000);
  client.Close();
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

/// Writes pieces of all sizes, each as far as possible without waiting, to a reader that makes the writer wait
/// repeatedly.
Task<> WriteEager(Request, ResponseWriter& writer) {
  Headers headers;
  co_await writer.Start(200, std::move(headers), false);
  for (int i = 0; i < 200; ++i) {
    std::vector<SharedBytes> pieces = Bytes({std::string(i * 997 % 300'000, static_cast<char>('a' + i % 26)), "|"});
    if (writer.TryWrite(Chunk(pieces))) continue;
    if (!co_await writer.Write(std::move(pieces))) co_return;
  }
  co_await writer.Finish();
}

TEST(HttpServer, WritesTheSameWhetherItWaitsOrNot) {
  std::string want;
  for (int i = 0; i < 200; ++i) want += std::string(i * 997 % 300'000, static_cast<char>('a' + i % 26)) + "|";
  const auto server = Plain(WriteEager);
  RawClient client(server->Port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(Dechunk(client.ReadUntil("\r\n0\r\n\r\n")), want);
}

TEST(HttpServer, UpgradesToARawTunnel) {
  const auto server = Plain([](Request request, ResponseWriter& writer) -> Task<> {
    Headers headers{{"upgrade", std::string(request.Header("upgrade"))}};
    const auto tunnel = co_await writer.Upgrade(std::move(headers));
    for (;;) {
      std::string data = co_await tunnel->Read();
      if (data.empty()) break;
      co_await tunnel->Write("<" + data + ">");
    }
  });
  RawClient client(server->Port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nearly");
  const std::string answer = client.ReadUntil(">");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << answer;
  EXPECT_NE(answer.find("Upgrade: SPDY/3.1\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("<early>"));
  client.Send("later");
  EXPECT_EQ(client.ReadUntil(">"), "<later>");
}

TEST(HttpServer, ClosesIdleConnectionsAndSlowHeads) {
  Limits limits;
  limits.header_timeout = std::chrono::milliseconds(60);
  limits.idle_timeout = std::chrono::milliseconds(60);
  const auto server = Plain(Echo, limits);
  RawClient idle(server->Port()), slow(server->Port());
  slow.Send("GET / HT");
  EXPECT_EQ(idle.ReadUntil(""), "");
  EXPECT_EQ(slow.ReadUntil(""), "");
}

TEST(HttpServer, DrainLetsRunningRequestsFinish) {
  std::promise<void> started;
  const auto server = Plain([&started](Request, ResponseWriter& writer) -> Task<> {
    started.set_value();
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, std::chrono::milliseconds(100));
    co_await timer.async_wait(boost::asio::use_awaitable);
    std::vector<SharedBytes> body = Bytes({"done"});
    co_await writer.Send(200, Headers(), std::move(body));
  });
  RawClient idle(server->Port()), busy(server->Port());
  busy.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  started.get_future().wait();
  boost::asio::io_context io;
  boost::asio::co_spawn(io, server->Drain(std::chrono::seconds(10)), boost::asio::detached);
  std::thread runner([&io] { io.run(); });
  EXPECT_EQ(idle.ReadUntil(""), "");
  const std::string answer = busy.ReadUntil("");
  EXPECT_TRUE(answer.ends_with("done")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  runner.join();
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = Plain(Echo);
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  options.port = server->Port();
  EXPECT_THROW(Listen(options, Echo), std::runtime_error);
}

TEST(HttpServer, ListensOnUnixSockets) {
  const std::string path = testing::TempPath("http.sock");
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  options.address = "unix:" + path;
  const auto server = Listen(options, Echo);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  const std::string_view request = "GET /u HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  ASSERT_EQ(::send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer(4096, '\0');
  answer.resize(std::max<ssize_t>(0, ::recv(fd, answer.data(), answer.size(), 0)));
  ::close(fd);
  EXPECT_TRUE(answer.ends_with("GET /u !")) << answer;
}

}  // namespace
}  // namespace apimesh::http
