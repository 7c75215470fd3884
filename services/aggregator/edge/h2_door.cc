#include "services/aggregator/edge/h2_door.h"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <future>
#include <thread>
#include <vector>

#include "lib/base/log.h"
#include "lib/h2/server.h"

namespace apimesh::aggregator {
namespace {

namespace asio = boost::asio;

class Http2Door final : public http::Server {
 public:
  Http2Door(const std::string& address, int threads, const http::Limits& limits, http::Handler handler) {
    std::vector<asio::io_context*> workers;
    for (int i = 0; i < std::max(1, threads); ++i) workers.push_back(workers_.emplace_back(std::make_unique<asio::io_context>(1)).get());
    server_ = h2::ServeHttp({{.address = address}}, std::move(handler), limits, workers);
    for (asio::io_context* worker : workers) threads_.emplace_back([worker] { Work(*worker); });
  }
  ~Http2Door() override {
    server_.reset();
    for (const auto& worker : workers_) worker->stop();
    for (std::thread& thread : threads_) thread.join();
  }

  int Port() const override { return 0; }

  Task<> Drain(std::chrono::milliseconds limit) override {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    auto drain = [this, limit] { server_->Drain(limit); };  // it blocks
    const std::future<void> drained = std::async(std::launch::async, drain);
    while (drained.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      pause.expires_after(std::chrono::milliseconds(5));
      co_await pause.async_wait(asio::use_awaitable);
    }
  }

 private:
  static void Work(asio::io_context& io) {
    pthread_setname_np(pthread_self(), "http2");
    const auto work = asio::make_work_guard(io);
    for (;;) {
      try {
        io.run();
        return;
      } catch (const std::exception& error) {
        log::Error("http2: {}", error.what());
      }
    }
  }

  std::vector<std::unique_ptr<asio::io_context>> workers_;
  std::unique_ptr<h2::Server> server_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<http::Server> ListenHttp2(const std::string& address, int threads, const http::Limits& limits, http::Handler handler) {
  return std::make_unique<Http2Door>(address, threads, limits, std::move(handler));
}

}  // namespace apimesh::aggregator
