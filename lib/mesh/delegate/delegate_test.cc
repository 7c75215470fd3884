#include "lib/mesh/delegate/delegate.h"

#include <condition_variable>
#include <fstream>
#include <future>
#include <thread>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/mesh/callers.h"
#include "lib/mesh/delegate/delegate_server.h"
#include "lib/mesh/test_certificates.h"
#include "lib/mesh/test_threads.h"
#include "lib/testing/system_clock.h"

namespace apimesh::mesh {
namespace {

using namespace std::chrono_literals;

std::string Join(const std::vector<SharedBytes>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += piece.View();
  return text;
}

/// Collects a streamed response. If `gate` is set, it is awaited before each write returns, to simulate a slow reader.
class Collector final : public ResponseStream {
 public:
  Task<bool> WriteHead(int c, Headers h) override {
    code = c;
    headers = std::move(h);
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    for (const auto& piece : pieces) bytes += piece.size();
    if (body.size() < 1000) body += Join(pieces);
    if (slow) {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 1ms);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (stop_after > 0 && bytes >= stop_after) co_return false;
    co_return true;
  }
  void OnCancel(std::function<void()> callback) override { cancel.set_value(std::move(callback)); }
  void Abort() override { aborted = true; }

  int code = 0;
  Headers headers;
  std::string body;
  std::size_t bytes = 0;
  std::size_t stop_after = 0;
  bool slow = false;
  bool aborted = false;
  std::promise<std::function<void()>> cancel;
};

/// Its behaviour depends on the path.
class TestHandler final : public DelegateHandler {
 public:
  Task<Response> Call(Request&& request) override {
    if (request.path == "/hang") {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 60s);
      timer.expires_at(std::min(request.deadline + 50ms, testing::SystemClock().Steady() + 60s));
      deadline_seen = request.deadline != SteadyTime::max();
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (request.path == "/wait") {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 60s);
      started.set_value();
      boost::system::error_code error;
      co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
      wait_ended.set_value(error);
    }
    if (request.path == "/sleep") {
      started.set_value();
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 200ms);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (request.path == "/throw") throw std::runtime_error("broken");
    last = request;
    Response response = Response::Json(201, request.body);
    if (const std::string_view odd = request.Header("x-odd"); !odd.empty()) response.headers.emplace_back("x-odd", odd);
    response.body.emplace_back(std::string(10'000, 'x'));
    response.body.emplace_back("end");
    co_return response;
  }

  Task<> Stream(Request request, ResponseStream& stream) override {
    if (request.path == "/nothing") co_return;
    Headers headers{{"content-type", "application/json"}};
    co_await stream.WriteHead(200, std::move(headers));
    if (request.path == "/large") {
      const SharedBytes piece(std::string(64 << 10, 'y'));
      for (int i = 0; i < 1600; ++i) {  // 100 MB
        std::vector<SharedBytes> pieces(1, piece);
        if (!co_await stream.Write(std::move(pieces))) break;
        written += piece.size();
      }
    }
    if (request.path == "/abort") {
      std::vector<SharedBytes> pieces(1, SharedBytes("half"));
      co_await stream.Write(std::move(pieces));
      stream.Abort();
    }
    if (request.path == "/watch") {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 60s);
      stream.OnCancel([&timer] { boost::asio::post(timer.get_executor(), [&timer] { timer.cancel(); }); });
      watching.set_value();
      boost::system::error_code error;
      co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
      watch_ended.set_value();
    }
  }

  Task<> Connect(Request request, std::unique_ptr<ConnectStream> stream) override {
    if (request.path != "/exec") {
      co_await stream->Answer(Response::Json(404, "no"));
      co_return;
    }
    Response head;
    head.code = 101;
    co_await stream->Answer(std::move(head));
    for (;;) {
      auto data = co_await stream->Read();
      if (!data || data->empty()) break;
      co_await stream->Write("echo " + *data);
    }
    connection_ended.set_value();
  }

  std::shared_ptr<void> Describe(std::function<void(Description)> changed) override {
    Description description;
    description.etag = "1";
    description.group_versions.push_back(std::make_shared<const GroupVersionDescription>(
        GroupVersionDescription{.group = "apps", .version = "v1", .resource_list = "{}"}));
    changed(description);
    description.etag = "2";
    changed(description);
    return std::make_shared<int>(0);
  }

  Request last;
  std::atomic<bool> deadline_seen = false;
  std::atomic<std::size_t> written = 0;
  std::promise<boost::system::error_code> wait_ended;
  std::promise<void> started, watching, watch_ended, connection_ended;
};

enum class Transport { kUnix, kTls };
/// The handler runs on the client's thread or on its own thread.
enum class Threads { kOne, kTwo };

class DelegateTest : public ::testing::TestWithParam<std::pair<Transport, Threads>> {
 protected:
  DelegateTest() {
    std::string pattern = ::testing::TempDir() + "apimesh-rpc-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    authority_.WriteCa(folder_ / "ca.crt");
    authority_.WritePair(folder_ / "server.crt", folder_ / "server.key", "core-api");
    authority_.WritePair(folder_ / "client.crt", folder_ / "client.key", "aggregator");
    if (GetParam().first == Transport::kUnix) {
      listener_.address = "unix:" + (folder_ / "sockets" / "delegate.sock").string();
    } else {
      listener_ = {"127.0.0.1:0", folder_ / "ca.crt", folder_ / "server.crt", folder_ / "server.key",
                   CallersOf(kCoreApi)};
    }
    Serve();
    client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  }
  ~DelegateTest() override {
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Serve() {
    server_ = ServeDelegate({listener_}, handler_, {GetParam().second == Threads::kOne ? &io_ : &server_io_}, clock_);
    if (GetParam().first == Transport::kTls) listener_.address = "127.0.0.1:" + std::to_string(server_->Port());
  }
  Endpoint ClientEndpoint() const {
    if (GetParam().first == Transport::kUnix) return {.target = listener_.address};
    return {"dns:///" + listener_.address, folder_ / "ca.crt", folder_ / "client.crt", folder_ / "client.key",
            IdentityOf(kCoreApi)};
  }
  /// Reconnects with a mesh certificate of the process `name`.
  void ConnectAs(const std::string& name) {
    authority_.WritePair(folder_ / "client.crt", folder_ / "client.key", name);
    client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  }
  template <class T>
  std::future<T> Spawn(Task<T> task) {
    return boost::asio::co_spawn(io_, std::move(task), boost::asio::use_future);
  }
  Response Call(std::string path, SteadyTime deadline = SteadyTime::max()) {
    return Spawn(client_->Call(For(std::move(path), deadline))).get();
  }
  static Request For(std::string path, SteadyTime deadline = SteadyTime::max()) {
    Request request;
    request.method = "GET";
    request.path = std::move(path);
    request.body = "body";
    request.deadline = deadline;
    return request;
  }

  TestThreads threads_;
  boost::asio::io_context& io_ = threads_.client;
  boost::asio::io_context& server_io_ = threads_.server;
  TestAuthority authority_;
  std::filesystem::path folder_;
  Listener listener_;
  std::shared_ptr<TestHandler> handler_ = std::make_shared<TestHandler>();
  testing::ShiftedClock clock_;  // of the server
  std::unique_ptr<DelegateServer> server_;
  std::unique_ptr<DelegateClient> client_;
};

TEST_P(DelegateTest, CallCarriesEverything) {
  Request request = For("/api/v1/pods");
  request.cluster = "c";
  request.query = "limit=5";
  request.headers = {{"accept", "application/json"}};
  request.user = {.name = "jane", .uid = "7", .groups = {"dev", "ops"}, .extra = {{"scopes", {"a", "b"}}}};
  request.info = {.is_resource_request = true,
                  .path = request.path,
                  .verb = meta::Verb::kList,
                  .api_prefix = "api",
                  .api_group = "",
                  .api_version = "v1",
                  .ns = "n",
                  .resource = "pods",
                  .subresource = "s",
                  .name = "x",
                  .parts = {"pods", "x"},
                  .field_selector = "f",
                  .label_selector = "l"};
  request.audit_id = "audit";
  request.traceparent = "trace";
  request.remote_address = "1.2.3.4";
  const Response response = Spawn(client_->Call(std::move(request))).get();
  EXPECT_EQ(response.code, 201);
  EXPECT_EQ(Join(response.body), "body" + std::string(10'000, 'x') + "end");
  EXPECT_EQ(response.headers, (Headers{{"content-type", "application/json"}}));
  const Request& seen = handler_->last;
  EXPECT_EQ(seen.cluster, "c");
  EXPECT_EQ(seen.method, "GET");
  EXPECT_EQ(seen.query, "limit=5");
  EXPECT_EQ(seen.Header("accept"), "application/json");
  EXPECT_EQ(seen.user, request.user);
  EXPECT_EQ(seen.info.path, "/api/v1/pods");
  EXPECT_EQ(seen.info.verb, meta::Verb::kList);
  EXPECT_EQ(seen.info.ns, "n");
  EXPECT_EQ(seen.info.parts, request.info.parts);
  EXPECT_EQ(seen.info.label_selector, "l");
  EXPECT_EQ(seen.audit_id, "audit");
  EXPECT_EQ(seen.remote_address, "1.2.3.4");
  EXPECT_EQ(seen.deadline, SteadyTime::max());
}

TEST_P(DelegateTest, HeadersNeedNotBeUtf8) {
  Request request = For("/x");
  request.headers = {{"x-odd", "caf\xe9"}};
  const Response response = Spawn(client_->Call(std::move(request))).get();
  EXPECT_EQ(response.code, 201);
  EXPECT_EQ(response.headers, (Headers{{"content-type", "application/json"}, {"x-odd", "caf\xe9"}}));
}

TEST_P(DelegateTest, ExceptionBecomesAnInternalError) { EXPECT_EQ(Call("/throw").code, 500); }

TEST_P(DelegateTest, DeadlineBecomesATimeout) {
  Call("/x");  // connects first, so that the deadline covers only the call
  const auto begin = testing::SystemClock().Steady();
  const Response response = Call("/hang", begin + 300ms);
  EXPECT_EQ(response.code, 504);
  EXPECT_LT(testing::SystemClock().Steady() - begin, 5s);
  EXPECT_TRUE(handler_->deadline_seen);
}

TEST_P(DelegateTest, PassedDeadlineStopsTheHandler) {
  Call("/x");
  EXPECT_EQ(Call("/wait", testing::SystemClock().Steady() + 500ms).code, 504);
  EXPECT_EQ(handler_->wait_ended.get_future().get(), boost::asio::error::operation_aborted);
}

TEST_P(DelegateTest, CancelledCallStopsTheHandler) {
  boost::asio::cancellation_signal cancel;
  std::promise<Response> ended;
  auto answered = [&ended](std::exception_ptr, Response response) { ended.set_value(std::move(response)); };
  boost::asio::co_spawn(io_, client_->Call(For("/wait")), boost::asio::bind_cancellation_slot(cancel.slot(), answered));
  handler_->started.get_future().get();
  boost::asio::post(io_, [&cancel] { cancel.emit(boost::asio::cancellation_type::terminal); });
  EXPECT_EQ(handler_->wait_ended.get_future().get(), boost::asio::error::operation_aborted);
  ended.get_future().get();
  EXPECT_EQ(Call("/x").code, 201) << "the server goes on";
}

TEST(NewDelegateClientTest, MissingCertificatesAreAnError) {
  try {
    boost::asio::io_context io{1};
    NewDelegateClient(
        {.target = "dns:///localhost:1", .ca_file = "/no/ca", .cert_file = "/no/cert", .key_file = "/no/key"},
        io.get_executor(), testing::SystemClock());
    FAIL() << "a channel without certificates";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "connecting to dns:///localhost:1 needs mesh certificates, and the file \"/no/ca\" is not there");
  }
}

TEST_P(DelegateTest, ServerThatIsDownIs503AtOnceAndIsFoundAgain) {
  EXPECT_EQ(Call("/x").code, 201);
  server_.reset();
  const auto begin = testing::SystemClock().Steady();
  for (int i = 0; i < 20; ++i) {
    const Response response = Call("/x", begin + 30s);
    EXPECT_EQ(response.code, 503);
    EXPECT_THAT(response.headers, ::testing::Contains(std::pair<std::string, std::string>("retry-after", "1")));
  }
  EXPECT_LT(testing::SystemClock().Steady() - begin, 3s);
  Serve();
  EXPECT_TRUE(testing::Eventually([this] { return Call("/x").code == 201; }, 3s));
}

TEST_P(DelegateTest, StreamArrivesWhole) {
  Collector out;
  Spawn(client_->Stream(For("/large"), out)).get();
  EXPECT_EQ(out.code, 200);
  EXPECT_EQ(out.bytes, 1600u * (64 << 10));
  EXPECT_FALSE(out.aborted);
}

TEST_P(DelegateTest, SlowReaderHoldsTheWriterBack) {
  Collector out;
  out.slow = true;
  out.stop_after = 8 << 20;
  Spawn(client_->Stream(For("/large"), out)).get();
  // The writer is ahead by the windows, the socket buffers and one message on each side.
  EXPECT_LT(handler_->written, out.bytes + (6 << 20));
}

TEST_P(DelegateTest, BrokenStreamIsSeenAsBroken) {
  Collector out;
  Spawn(client_->Stream(For("/abort"), out)).get();
  EXPECT_EQ(out.body, "half");
  EXPECT_TRUE(out.aborted);
}

TEST_P(DelegateTest, EmptyStreamIsAnError) {
  Collector out;
  Spawn(client_->Stream(For("/nothing"), out)).get();
  EXPECT_EQ(out.code, 500);
}

TEST_P(DelegateTest, StreamToAServerThatIsDownIs503) {
  server_.reset();
  Collector out;
  Spawn(client_->Stream(For("/large"), out)).get();
  EXPECT_EQ(out.code, 503);
  EXPECT_THAT(out.body, ::testing::HasSubstr("ServiceUnavailable"));
}

TEST_P(DelegateTest, VanishedReaderCancelsTheHandler) {
  Collector out;
  auto done = Spawn(client_->Stream(For("/watch"), out));
  handler_->watching.get_future().get();
  out.cancel.get_future().get()();
  EXPECT_EQ(handler_->watch_ended.get_future().wait_for(5s), std::future_status::ready);
  done.get();
}

TEST_P(DelegateTest, DrainWaitsForCallsAndEndsWatches) {
  Collector out;
  Request watch = For("/watch");
  watch.info.verb = meta::Verb::kWatch;
  auto watching = Spawn(client_->Stream(watch, out));
  auto call = Spawn(client_->Call(For("/sleep")));
  handler_->watching.get_future().get();
  handler_->started.get_future().get();
  const auto begin = testing::SystemClock().Steady();
  server_->Drain(10s);
  EXPECT_LT(testing::SystemClock().Steady() - begin, 5s);
  watching.get();
  EXPECT_FALSE(out.aborted);
  EXPECT_EQ(call.get().code, 201);
}

TEST_P(DelegateTest, ConnectionCarriesBytesBothWays) {
  Connection connection = Spawn(client_->Connect(For("/exec"))).get();
  ASSERT_EQ(connection.head.code, 101);
  for (const std::string text : {"a", "b"}) {
    EXPECT_TRUE(Spawn(connection.stream->Write(text)).get());
    EXPECT_EQ(*Spawn(connection.stream->Read()).get(), "echo " + text);
  }
  connection.stream->Close();
  EXPECT_EQ(handler_->connection_ended.get_future().wait_for(5s), std::future_status::ready);
}

TEST_P(DelegateTest, ConnectionCanBeRefused) {
  const Connection connection = Spawn(client_->Connect(For("/x"))).get();
  EXPECT_EQ(connection.head.code, 404);
  EXPECT_EQ(Join(connection.head.body), "no");
  EXPECT_EQ(connection.stream, nullptr);
}

TEST_P(DelegateTest, DescriptionIsFollowedThroughARestart) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> etags;
  const auto handle = client_->Describe([&](std::optional<Description> description) {
    std::lock_guard lock(mutex);
    etags.push_back(description ? description->etag : "lost");
    changed.notify_all();
  });
  auto wait_for_last = [&](const std::string& etag) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 5s, [&] { return !etags.empty() && etags.back() == etag; });
  };
  EXPECT_TRUE(wait_for_last("2"));
  server_.reset();
  EXPECT_TRUE(wait_for_last("lost"));
  Serve();
  EXPECT_TRUE(wait_for_last("2"));
}

TEST_P(DelegateTest, OnlyTheMeshIsLetIn) {
  if (GetParam().first == Transport::kUnix) {
    struct stat info;
    ASSERT_EQ(::stat((folder_ / "sockets").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    ASSERT_EQ(::stat((folder_ / "sockets" / "delegate.sock").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    return;
  }
  const TestAuthority stranger;
  stranger.WritePair(folder_ / "client.crt", folder_ / "client.key", "aggregator");
  client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  EXPECT_EQ(Call("/x").code, 503);
}

TEST_P(DelegateTest, ACertificateOfTheMeshIsNotEnough) {
  if (GetParam().first == Transport::kUnix) GTEST_SKIP() << "a Unix socket has no certificates";
  for (const std::string name : {"envoy", "console", "core-api"}) {
    ConnectAs(name);
    EXPECT_EQ(Call("/x").code, 503) << name;
  }
  ConnectAs("aggregator");
  EXPECT_EQ(Call("/x").code, 201);
}

TEST_P(DelegateTest, SomeCallersOnlyRead) {
  if (GetParam().first == Transport::kUnix) GTEST_SKIP() << "a Unix socket has no certificates";
  Request write = For("/x");
  write.method = "POST";
  EXPECT_EQ(Spawn(client_->Call(Request(write))).get().code, 201);
  for (const std::string name : {"authn-authz", "extensions-api"}) {
    ConnectAs(name);
    EXPECT_EQ(Call("/x").code, 201) << name;
    EXPECT_EQ(Spawn(client_->Call(Request(write))).get().code, 500) << name;
  }
}

TEST_P(DelegateTest, TheServerHasToBeTheExpectedProcess) {
  if (GetParam().first == Transport::kUnix) GTEST_SKIP() << "a Unix socket has no certificates";
  Endpoint endpoint = ClientEndpoint();
  endpoint.identity = IdentityOf(kAuthnAuthz);
  client_ = NewDelegateClient(endpoint, io_.get_executor(), testing::SystemClock());
  EXPECT_EQ(Call("/x").code, 503);
  endpoint.identity.clear();
  EXPECT_THROW(NewDelegateClient(endpoint, io_.get_executor(), testing::SystemClock()), std::runtime_error);
}

TEST_P(DelegateTest, RenewedCertificatesAreUsed) {
  if (GetParam().first == Transport::kUnix) GTEST_SKIP() << "a Unix socket has no certificates";
  EXPECT_EQ(Call("/x").code, 201);
  const TestAuthority renewed;
  renewed.WriteCa(folder_ / "ca.crt");
  renewed.WritePair(folder_ / "server.crt", folder_ / "server.key", "core-api");
  renewed.WritePair(folder_ / "client.crt", folder_ / "client.key", "aggregator");
  clock_.Advance(1s);  // the server checks its files once per second
  // A new connection, which trusts only the new CA.
  client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  EXPECT_EQ(Call("/x").code, 201);
}

std::string Name(const ::testing::TestParamInfo<std::pair<Transport, Threads>>& info) {
  return std::string(info.param.first == Transport::kUnix ? "Unix" : "Tls") +
         (info.param.second == Threads::kOne ? "OneThread" : "TwoThreads");
}
INSTANTIATE_TEST_SUITE_P(Ways, DelegateTest,
                         ::testing::Values(std::pair(Transport::kUnix, Threads::kOne),
                                           std::pair(Transport::kUnix, Threads::kTwo),
                                           std::pair(Transport::kTls, Threads::kOne)),
                         Name);

}  // namespace
}  // namespace apimesh::mesh
