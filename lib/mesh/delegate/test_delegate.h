#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "lib/mesh/callers.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/mesh/delegate/delegate_server.h"
#include "lib/mesh/test_certificates.h"
#include "lib/mesh/test_threads.h"
#include "lib/testing/system_clock.h"

/// What the tests of the delegate contract share.
namespace apimesh::mesh {

using namespace std::chrono_literals;

inline std::string Join(const std::vector<SharedBytes>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += piece.View();
  return text;
}

/// Collects a streamed response. `slow` simulates a reader that needs a millisecond for each piece.
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

/// A handler whose behaviour depends on the path: "/hang", "/wait", "/sleep", "/throw", "/large", "/abort", "/watch",
/// "/exec".
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

/// A server with a TestHandler, and a client that is connected to it.
class DelegateFixture {
 protected:
  DelegateFixture(Transport transport, Threads threads) : transport_(transport), handler_threads_(threads) {
    std::string pattern = ::testing::TempDir() + "apimesh-rpc-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    authority_.WriteCa(folder_ / "ca.crt");
    authority_.WritePair(folder_ / "server.crt", folder_ / "server.key", "core-api");
    authority_.WritePair(folder_ / "client.crt", folder_ / "client.key", "aggregator");
    if (transport_ == Transport::kUnix) {
      listener_.address = "unix:" + (folder_ / "sockets" / "delegate.sock").string();
    } else {
      listener_ = {"127.0.0.1:0", folder_ / "ca.crt", folder_ / "server.crt", folder_ / "server.key",
                   CallersOf(kCoreApi)};
    }
    Serve();
    client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  }
  ~DelegateFixture() {
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Serve() {
    server_ = ServeDelegate({listener_}, handler_, {handler_threads_ == Threads::kOne ? &io_ : &server_io_}, clock_);
    if (transport_ == Transport::kTls) listener_.address = "127.0.0.1:" + std::to_string(server_->Port());
  }
  Endpoint ClientEndpoint() const {
    if (transport_ == Transport::kUnix) return {.target = listener_.address};
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

  const Transport transport_;
  const Threads handler_threads_;
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

/// The contract holds for each transport and for handlers on other threads.
class DelegateTest : public DelegateFixture, public ::testing::TestWithParam<std::pair<Transport, Threads>> {
 protected:
  DelegateTest() : DelegateFixture(GetParam().first, GetParam().second) {}
};

}  // namespace apimesh::mesh
