#include "services/aggregator/edge/http2_listener.h"

#include <future>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <pthread.h>

#include "lib/base/log.h"
#include "lib/http/http2/server.h"

namespace apimesh::aggregator {
namespace {

namespace asio = boost::asio;

class FrontProxyListener final : public http::Server {
 public:
  FrontProxyListener(const std::string& address, int threads, const http::Limits& limits, http::Handler handler,
                     const Clock& clock) {
    std::vector<asio::io_context*> workers;
    for (int i = 0; i < std::max(1, threads); ++i)
      workers.push_back(workers_.emplace_back(std::make_unique<asio::io_context>(1)).get());
    server_ = http::ServeHttp2({{.address = address}}, std::move(handler), limits, workers, clock);
    for (asio::io_context* worker : workers) threads_.emplace_back([worker] { Work(*worker); });
  }
  ~FrontProxyListener() override {
    server_.reset();
    for (const auto& worker : workers_) worker->stop();
    for (std::thread& thread : threads_) thread.join();
  }

  int Port() const override { return 0; }

  Task<> Drain(std::chrono::milliseconds limit) override {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    auto drain = [this, limit] { server_->Drain(limit); };  // blocks
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
  std::unique_ptr<http::Http2Server> server_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<http::Server> ListenHttp2(const std::string& address, int threads, const http::Limits& limits,
                                          http::Handler handler, const Clock& clock) {
  return std::make_unique<FrontProxyListener>(address, threads, limits, std::move(handler), clock);
}

}  // namespace apimesh::aggregator
