#include "lib/http/server.h"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "lib/base/log.h"
#include "lib/http/connection.h"
#include "lib/net/listen_socket.h"

namespace apimesh::http {
namespace {

namespace asio = boost::asio;
constexpr int kAcceptsPerTurn =
    16;  // each may cost a handshake; the existing connections of this thread are served in between
constexpr std::size_t kShareThatGivesWay = 32;
constexpr std::chrono::milliseconds kPauseForRoom{5}, kPauseForDescriptors{100};

/// Whether a connection waits to be accepted.
bool IsReadable(int listener) {
  pollfd waiting{listener, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

class ServerOnThreads final : public Server {
 public:
  ServerOnThreads(ServerOptions options, Handler handler) : shared_(std::make_shared<ServerShared>(options.clock)) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to the descriptor itself
    shared_->limits = options.limits;
    shared_->handler = std::move(handler);
    shared_->make_room = [this] { MakeRoom(); };
    if (options.tls) tls_ = std::make_unique<net::ServerTls>(options.tls_options, options.clock);
    net::ListenSocket socket = net::OpenListenSocket(options.address, options.port, options.share_port);
    port_ = socket.port;
    for (int i = 0; i < std::max(1, options.threads); ++i) workers_.push_back(std::make_unique<Worker>());
    listener_.emplace(workers_[0]->io, socket.fd);
    accept_pause_.emplace(workers_[0]->io);
    const auto shortest =
        std::min({options.limits.handshake_timeout, options.limits.header_timeout, options.limits.idle_timeout});
    tick_ = std::clamp(shortest / 4, std::chrono::milliseconds(5), std::chrono::milliseconds(500));
    WaitForConnections();
    for (auto& worker : workers_) Start(*worker);
  }

  ~ServerOnThreads() override {
    StopAccepting();
    CutAll(false);
    const SteadyTime limit = shared_->clock.Steady() + std::chrono::seconds(2);
    while (shared_->connections > 0 && shared_->clock.Steady() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (auto& worker : workers_) worker->io.stop();
    for (std::thread& thread : threads_) thread.join();
    // A suspended handler resumes on its executor later, so the executor must still exist then.
    if (shared_->connections > 0) {
      for (auto& worker : workers_) (void)worker.release();
    }
  }

  int Port() const override { return port_; }

  Task<> Drain(std::chrono::milliseconds limit) override {
    shared_->draining = true;
    StopAccepting();
    CutAll(true);
    const SteadyTime end = shared_->clock.Steady() + limit;
    asio::steady_timer pause(co_await asio::this_coro::executor);
    while (shared_->connections > 0 && shared_->clock.Steady() < end) {
      pause.expires_after(std::chrono::milliseconds(5));
      co_await pause.async_wait(asio::use_awaitable);
    }
    CutAll(false);
  }

 private:
  void Start(Worker& worker) {
    auto tick = std::make_shared<asio::steady_timer>(worker.io);
    Tick(worker, tick);
    threads_.emplace_back([&worker] {
      pthread_setname_np(pthread_self(), "http");
      for (;;) {
        try {
          worker.io.run();
          return;
        } catch (const std::exception& error) {
          log::Error("http: {}", error.what());
        }
      }
    });
  }

  // One timer per thread serves all timeouts, so setting a timeout costs only a store.
  void Tick(Worker& worker, const std::shared_ptr<asio::steady_timer>& timer) {
    timer->expires_after(tick_);
    timer->async_wait([this, &worker, timer](const boost::system::error_code& error) {
      if (error) return;
      const SteadyTime now = shared_->clock.Steady();
      std::vector<std::shared_ptr<Connection>> connections;  // keeps them alive while some are closed
      for (Connection* connection : worker.connections) connections.push_back(connection->shared_from_this());
      for (const auto& connection : connections) connection->CheckDeadline(now);
      Tick(worker, timer);
    });
  }

  void WaitForConnections() {
    listener_->async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      for (int i = 0; i < kAcceptsPerTurn; ++i) {
        if (!HasRoom()) {
          if (!IsReadable(listener_->native_handle())) break;
          MakeRoom();
          if (!HasRoom()) return PauseAccepting(kPauseForRoom);
        }
        net::AcceptedSocket socket = net::AcceptOne(listener_->native_handle());
        if (socket.out_of_descriptors) {
          log::Warning("http: out of file descriptors; new connections wait");
          MakeRoom();
          return PauseAccepting(kPauseForDescriptors);
        }
        if (socket.fd < 0) break;
        Adopt(std::move(socket));
      }
      WaitForConnections();
    });
  }

  void PauseAccepting(std::chrono::milliseconds pause) {
    accept_pause_->expires_after(pause);
    accept_pause_->async_wait([this](const boost::system::error_code& error) {
      if (!error && listener_->is_open()) WaitForConnections();
    });
  }

  bool HasRoom() const { return shared_->limits.connections == 0 || shared_->open < shared_->limits.connections; }

  /// Closes a part of the connections that serve no request (unfinished handshakes and heads, idle connections), those
  /// that have waited longest first. Their clients reconnect when needed. Other threads may close their part later.
  void MakeRoom() {
    int none = 0;
    if (!making_room_.compare_exchange_strong(none, static_cast<int>(workers_.size()))) return;
    for (auto& worker : workers_) {
      asio::dispatch(worker->io, [this, &worker = *worker] {
        CloseLongestWaiting(worker);
        --making_room_;
      });
    }
  }

  static void CloseLongestWaiting(Worker& worker) {
    std::vector<std::shared_ptr<Connection>> waiting;
    for (Connection* connection : worker.connections) {
      if (connection->Expendable()) waiting.push_back(connection->shared_from_this());
    }
    if (waiting.empty()) return;
    const std::size_t count = std::min(waiting.size(), worker.connections.size() / kShareThatGivesWay + 1);
    std::nth_element(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count) - 1, waiting.end(),
                     [](const auto& a, const auto& b) { return a->WaitsSince() < b->WaitsSince(); });
    for (std::size_t i = 0; i < count; ++i) waiting[i]->Cut();
  }

  void Adopt(net::AcceptedSocket socket) {
    net::SslPtr ssl;
    if (tls_ && !(ssl = tls_->NewSession())) {
      ::close(socket.fd);
      return;
    }
    Worker* worker = workers_[0].get();
    for (auto& candidate : workers_) {
      if (candidate->load < worker->load) worker = candidate.get();
    }
    ++worker->load;
    ++shared_->connections;
    auto peer = std::make_shared<net::Peer>();
    peer->address = std::move(socket.address);
    auto begin = [shared = shared_, worker, fd = socket.fd, ssl = std::move(ssl), peer = std::move(peer)]() mutable {
      auto connection = std::make_shared<Connection>(
          shared, *worker, net::NewTransport(worker->io.get_executor(), fd, std::move(ssl), shared->clock),
          std::move(peer));
      asio::co_spawn(worker->io, connection->Run(), [connection](std::exception_ptr) { connection->Cut(); });
    };
    asio::dispatch(worker->io, std::move(begin));
  }

  void StopAccepting() {
    std::promise<void> closed;
    auto close = [this, &closed] {
      boost::system::error_code ignored;
      accept_pause_->cancel();
      if (listener_->is_open()) listener_->close(ignored);
      closed.set_value();
    };
    asio::dispatch(workers_[0]->io, close);
    closed.get_future().wait();
  }

  void CutAll(bool only_idle) {
    for (auto& worker : workers_) {
      auto cut = [&worker = *worker, only_idle] {
        std::vector<std::shared_ptr<Connection>> connections;
        for (Connection* connection : worker.connections) connections.push_back(connection->shared_from_this());
        for (const auto& connection : connections) {
          only_idle ? connection->Drain() : connection->Cut();
        }
      };
      asio::post(worker->io, cut);
    }
  }

  std::shared_ptr<ServerShared> shared_;
  std::unique_ptr<net::ServerTls> tls_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<asio::posix::stream_descriptor> listener_;
  std::optional<asio::steady_timer> accept_pause_;
  std::vector<std::thread> threads_;
  std::chrono::milliseconds tick_{500};
  std::atomic<int> making_room_{0};  // workers that have not closed their part yet
  int port_ = 0;
};

}  // namespace

std::size_t DefaultMaxConnections() {
  constexpr std::size_t kReserved = 128, kMost = 100'000;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4 * kMost);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  const std::size_t descriptors = std::min<rlim_t>(limit.rlim_cur, 2 * kMost);
  return std::min(kMost, descriptors - std::min(descriptors / 2, kReserved + descriptors / 16));
}

std::unique_ptr<Server> Listen(ServerOptions options, Handler handler) {
  return std::make_unique<ServerOnThreads>(std::move(options), std::move(handler));
}

}  // namespace apimesh::http
