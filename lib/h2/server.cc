#include "lib/h2/server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_set>

#include "lib/base/log.h"
#include "lib/h2/health.h"
#include "lib/h2/http_call.h"
#include "lib/h2/session.h"
#include "lib/http/listen_socket.h"
#include "lib/http/peer_uri.h"
#include "lib/http/tls.h"

namespace apimesh::h2 {
namespace {

namespace asio = boost::asio;
constexpr std::string_view kUnix = "unix:";
constexpr std::chrono::seconds kHandshakeTime{10};
constexpr std::size_t kMostHandshakes = 1024;  // unfinished ones; a new connection ends the oldest of them
constexpr int kAcceptsPerTurn = 16;            // each may cost a handshake; sessions of this thread are served in between
constexpr std::uint32_t kEarlyBodyBytes = 16 << 10;  // of a plain HTTP request, before its handler reads it

void MakeSocketFolder(const std::filesystem::path& socket) {
  const auto folder = socket.parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return;
  std::filesystem::create_directories(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw std::runtime_error(fmt::format("cannot make the folder {}: {}", folder.string(), std::strerror(errno)));
  }
}

std::unique_ptr<http::ServerTls> TlsFor(const Listener& listener) {
  for (const std::string& file : {listener.ca_file, listener.cert_file, listener.key_file}) {
    if (!std::filesystem::exists(file)) {
      throw std::runtime_error(fmt::format("listening on {} needs mesh certificates, and the file \"{}\" is not there",
                                           listener.address, file));
    }
  }
  if (listener.callers.empty()) {
    throw std::runtime_error(fmt::format("listening on {} needs the names of the processes that may connect", listener.address));
  }
  http::TlsOptions options;
  for (const Caller& caller : listener.callers) options.client_uris.push_back(caller.identity);
  options.cert_file = listener.cert_file;
  options.key_file = listener.key_file;
  options.client_ca_files = {listener.ca_file};
  options.client_certificate = http::TlsOptions::ClientCertificate::kRequire;
  options.protocol = "h2";
  return std::make_unique<http::ServerTls>(std::move(options));
}

struct Greeting;
using CallerPtr = std::shared_ptr<const Caller>;
/// Makes the stream of a call. The caller is nullptr on a Unix socket.
using AcceptFn = std::function<std::shared_ptr<Stream>(const CallerPtr& caller)>;

/// What outlives the server where a connection does.
struct Shared {
  AcceptFn accept;
  std::uint32_t stream_window = SessionOptions().stream_window;
  std::mutex mutex;
  std::unordered_set<std::shared_ptr<Session>> sessions;  // guarded by mutex
  std::list<std::weak_ptr<Greeting>> greetings;           // guarded by mutex; oldest first
  bool stopping = false;                                  // guarded by mutex

  /// A session ends on its own thread, or with the io_context that is no longer run.
  ~Shared() {
    for (const auto& session : sessions) CloseSoon(session);
  }
  static void CloseSoon(const std::shared_ptr<Session>& session) {
    asio::post(session->Executor(), [session] { session->Close("the server has stopped"); });
  }
  std::vector<std::shared_ptr<Session>> Sessions() {
    const std::lock_guard lock(mutex);
    return {sessions.begin(), sessions.end()};
  }
  bool Empty() {
    const std::lock_guard lock(mutex);
    return sessions.empty();
  }
};

/// The callers of a listener; none of them for a Unix socket, which is open to its owner alone.
using Callers = std::shared_ptr<const std::vector<Caller>>;

/// The caller whose identity is in the peer's certificate. The handshake has made sure that there is one.
CallerPtr FindCaller(const Callers& callers, const http::Transport& transport) {
  http::Peer peer;
  transport.DescribePeer(peer);
  const std::string leaf = peer.certificates_der.empty() ? std::string() : peer.certificates_der.front();
  for (const std::string& uri : http::CertificateUris(leaf)) {
    for (const Caller& caller : *callers) {
      if (caller.identity == uri) return CallerPtr(callers, &caller);
    }
  }
  return nullptr;
}

void StartSession(const std::shared_ptr<Shared>& shared, const asio::any_io_executor& executor, CallerPtr caller,
                  std::unique_ptr<http::Transport> transport) {
  SessionOptions options;
  options.server = true;
  options.keepalive = std::chrono::seconds(20);
  options.accept = [accept = shared->accept, caller = std::move(caller)] { return accept(caller); };
  options.stream_window = shared->stream_window;
  auto self = std::make_shared<std::weak_ptr<Session>>();
  // Not shared: that keeps the session.
  options.closed = [weak = std::weak_ptr(shared), self](const std::string&) {
    const auto session = self->lock();
    const auto server = weak.lock();
    if (!server) return;
    const std::lock_guard lock(server->mutex);
    server->sessions.erase(session);
  };
  auto session = Session::Start(executor, std::move(transport), std::move(options));
  *self = session;
  const std::lock_guard lock(shared->mutex);
  shared->sessions.insert(session);
  if (shared->stopping) session->GoAway();
}

/// TLS, then the session. One step at a time: the transport calls back when it is worth trying again.
struct Greeting : std::enable_shared_from_this<Greeting> {
  std::shared_ptr<Shared> shared;
  asio::any_io_executor executor;
  Callers callers;
  std::unique_ptr<http::Transport> transport;
  asio::steady_timer timer;
  std::optional<std::list<std::weak_ptr<Greeting>>::iterator> place;  // in shared->greetings; guarded by its mutex

  Greeting(std::shared_ptr<Shared> s, asio::any_io_executor e, Callers c, std::unique_ptr<http::Transport> t)
      : shared(std::move(s)), executor(std::move(e)), callers(std::move(c)), transport(std::move(t)), timer(executor, kHandshakeTime) {}
  ~Greeting() {
    const std::lock_guard lock(shared->mutex);
    if (place) shared->greetings.erase(*place);
  }

  void Begin() {
    EndOldest();
    timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && self->transport) self->transport->Close();
    });
    Step();
  }
  /// A peer that answers is done within a few turns of the event loop, so the oldest is one that does not.
  void EndOldest() {
    std::shared_ptr<Greeting> oldest;
    const std::lock_guard lock(shared->mutex);
    place = shared->greetings.insert(shared->greetings.end(), weak_from_this());
    if (shared->greetings.size() <= kMostHandshakes) return;
    oldest = shared->greetings.front().lock();
    if (!oldest) return;  // its destructor, on another thread, waits for the mutex to remove it
    shared->greetings.pop_front();
    oldest->place.reset();
    asio::post(oldest->executor, [oldest] {
      if (oldest->transport) oldest->transport->Close();
    });
  }
  void Step() {
    const auto again = [self = shared_from_this()] { self->Step(); };
    switch (transport->TryHandshake()) {
      case http::Transport::Handshake::kDone: return Finish();
      case http::Transport::Handshake::kWantRead: return transport->WaitReadable(again);
      case http::Transport::Handshake::kWantWrite: return transport->WaitWritable(again);
      case http::Transport::Handshake::kFailed:
        log::Debug("TLS handshake failed: {}", transport->Error());
        timer.cancel();
        transport->Close();
    }
  }
  void Finish() {
    timer.cancel();
    CallerPtr caller = callers ? FindCaller(callers, *transport) : nullptr;
    if (callers && !caller) return transport->Close();
    StartSession(shared, executor, std::move(caller), std::move(transport));
  }
};

class ServerOnWorkers final : public Server {
 public:
  ServerOnWorkers(const std::vector<Listener>& listeners, std::shared_ptr<Shared> shared, std::shared_ptr<Health> health,
                  std::vector<asio::io_context*> workers)
      : workers_(std::move(workers)), shared_(std::move(shared)), health_(std::move(health)) {
    for (const Listener& listener : listeners) doors_.push_back(OpenDoor(listener));
    for (auto& door : doors_) WaitForConnections(*door);
  }

  ~ServerOnWorkers() override { Drain(std::chrono::milliseconds(0)); }

  int Port(std::size_t index) const override { return doors_[index]->port; }
  void SetServing(bool serving) override {
    if (health_) health_->SetServing(serving);
  }

  void Drain(std::chrono::milliseconds limit) override {
    CloseDoors();
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
    }
    for (const auto& session : shared_->Sessions()) asio::post(session->Executor(), [session] { session->GoAway(); });
    const SteadyTime end = Clock::System().Steady() + limit;
    while (!shared_->Empty() && Clock::System().Steady() < end) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (const auto& session : shared_->Sessions()) Shared::CloseSoon(session);
  }

 private:
  struct Door {
    Door(asio::io_context& io, int fd) : socket(io, fd), pause(io) {}
    asio::posix::stream_descriptor socket;
    asio::steady_timer pause;
    std::unique_ptr<http::ServerTls> tls;
    Callers callers;  // nullptr: anyone who can connect
    int port = 0;
  };

  std::shared_ptr<Door> OpenDoor(const Listener& listener) {
    const bool local = std::string_view(listener.address).starts_with(kUnix);
    std::unique_ptr<http::ServerTls> tls;
    std::string address = listener.address;
    int port = 0;
    if (local) {
      MakeSocketFolder(address.substr(kUnix.size()));
    } else {
      tls = TlsFor(listener);
      const std::size_t colon = address.rfind(':');
      if (colon == std::string::npos) throw std::runtime_error(fmt::format("\"{}\" is not host:port", address));
      port = std::atoi(address.c_str() + colon + 1);
      address.resize(colon);
      if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    }
    const http::ListenSocket socket = http::OpenListenSocket(address, port);
    auto door = std::make_shared<Door>(*workers_[0], socket.fd);
    door->tls = std::move(tls);
    if (!local) door->callers = std::make_shared<const std::vector<Caller>>(listener.callers);
    door->port = local ? 0 : socket.port;
    return door;
  }

  void WaitForConnections(Door& door) {
    door.socket.async_wait(asio::posix::stream_descriptor::wait_read, [this, &door](const boost::system::error_code& error) {
      if (error) return;
      for (int i = 0; i < kAcceptsPerTurn; ++i) {
        http::AcceptedSocket accepted = http::AcceptOne(door.socket.native_handle());
        if (accepted.out_of_descriptors) return Pause(door);
        if (accepted.fd < 0) break;
        Adopt(door, accepted.fd);
      }
      WaitForConnections(door);
    });
  }

  void Pause(Door& door) {
    log::Warning("out of file descriptors; new connections wait");
    door.pause.expires_after(std::chrono::milliseconds(100));
    door.pause.async_wait([this, &door](const boost::system::error_code& error) {
      if (!error) WaitForConnections(door);
    });
  }

  void Adopt(Door& door, int fd) {
    http::SslPtr ssl;
    if (door.tls && !(ssl = door.tls->NewSession())) {
      ::close(fd);
      return;
    }
    asio::io_context& worker = *workers_[next_worker_++ % workers_.size()];
    auto begin = [shared = shared_, executor = asio::any_io_executor(worker.get_executor()), callers = door.callers, fd,
                  ssl = std::move(ssl)]() mutable {
      auto transport = http::NewTransport(executor, fd, std::move(ssl));
      std::make_shared<Greeting>(shared, executor, std::move(callers), std::move(transport))->Begin();
    };
    asio::dispatch(worker, std::move(begin));
  }

  void CloseDoors() {
    if (doors_closed_.exchange(true)) return;
    // A worker that is no longer run must not keep us, and one that is only slow comes to this when we may be gone.
    auto closed = std::make_shared<std::promise<void>>();
    auto close = [doors = doors_, closed] {
      for (const auto& door : doors) {
        boost::system::error_code ignored;
        door->pause.cancel();
        door->socket.close(ignored);
      }
      closed->set_value();
    };
    if (workers_[0]->stopped()) return close();
    asio::dispatch(*workers_[0], close);
    closed->get_future().wait_for(std::chrono::seconds(1));
  }

  const std::vector<asio::io_context*> workers_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<Health> health_;  // nullptr: no gRPC, no such service
  std::vector<std::shared_ptr<Door>> doors_;
  std::atomic<std::size_t> next_worker_{0};
  std::atomic<bool> doors_closed_{false};
};

}  // namespace

std::unique_ptr<Server> Serve(const std::vector<Listener>& listeners, Methods methods, std::vector<asio::io_context*> workers) {
  auto health = Health::AddTo(methods);
  auto shared = std::make_shared<Shared>();
  shared->accept = [methods = std::make_shared<const Methods>(std::move(methods))](const CallerPtr& caller) {
    return std::make_shared<ServerCall>(methods, caller);
  };
  return std::make_unique<ServerOnWorkers>(listeners, std::move(shared), std::move(health), std::move(workers));
}

std::unique_ptr<Server> ServeHttp(const std::vector<Listener>& listeners, http::Handler handler, const http::Limits& limits,
                                  std::vector<asio::io_context*> workers) {
  auto shared = std::make_shared<Shared>();
  shared->stream_window = kEarlyBodyBytes;
  shared->accept = [handler = std::make_shared<const http::Handler>(std::move(handler)), limits](const CallerPtr&) {
    return std::make_shared<HttpCall>(handler, limits);
  };
  return std::make_unique<ServerOnWorkers>(listeners, std::move(shared), nullptr, std::move(workers));
}

}  // namespace apimesh::h2
