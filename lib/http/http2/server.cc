#include "lib/http/http2/server.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/http/http2/call.h"
#include "lib/net/listen_socket.h"
#include "lib/net/tls/peer_uri.h"
#include "lib/net/tls/tls.h"

namespace apimesh::http {
namespace {

namespace asio = boost::asio;
constexpr std::string_view kUnix = "unix:";
constexpr std::chrono::seconds kHandshakeTime{10};
constexpr std::chrono::seconds kKeepalive{20};
constexpr std::size_t kMostHandshakes = 1024;  // unfinished ones; a new connection ends the oldest of them
constexpr int kAcceptsPerTurn = 16;  // each may cost a handshake; other connections of this thread are served in
                                     // between
constexpr std::uint32_t kEarlyBodyBytes = 16 << 10;  // of a plain HTTP request, before its handler reads it

void MakeSocketFolder(const std::filesystem::path& socket) {
  const auto folder = socket.parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return;
  std::filesystem::create_directories(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw std::runtime_error(fmt::format("cannot make the folder {}: {}", folder.string(), std::strerror(errno)));
  }
}

std::unique_ptr<net::ServerTls> TlsFor(const Http2Listener& listener, const Clock& clock) {
  for (const std::string& file : {listener.ca_file, listener.cert_file, listener.key_file}) {
    if (!std::filesystem::exists(file)) {
      throw std::runtime_error(fmt::format("listening on {} needs mesh certificates, and the file \"{}\" is not there",
                                           listener.address, file));
    }
  }
  if (listener.client_uris.empty()) {
    throw std::runtime_error(
        fmt::format("listening on {} needs the names of the processes that may connect", listener.address));
  }
  net::ServerTlsOptions options;
  options.client_uris = listener.client_uris;
  options.cert_file = listener.cert_file;
  options.key_file = listener.key_file;
  options.client_ca_files = {listener.ca_file};
  options.client_certificate = net::ServerTlsOptions::ClientCertificate::kRequire;
  options.protocols = {"h2"};
  return std::make_unique<net::ServerTls>(std::move(options), clock);
}

struct PendingHandshake;

/// The state that a connection may need after the server is destroyed.
struct Shared {
  explicit Shared(const Clock& given_clock) : clock(given_clock) {}

  const Clock& clock;
  NewStreams new_streams;
  http2::Limits limits;
  std::mutex mutex;
  std::unordered_set<std::shared_ptr<Http2Connection>> connections;  // guarded by mutex
  std::list<std::weak_ptr<PendingHandshake>> handshakes;             // guarded by mutex; oldest first
  bool stopping = false;                                             // guarded by mutex

  /// A connection is closed on its own thread, or by its io_context if that no longer runs.
  ~Shared() {
    for (const auto& connection : connections) CloseSoon(connection);
  }
  static void CloseSoon(const std::shared_ptr<Http2Connection>& connection) {
    asio::post(connection->Executor(), [connection] { connection->Close("the server has stopped"); });
  }
  std::vector<std::shared_ptr<Http2Connection>> Connections() {
    const std::lock_guard lock(mutex);
    return {connections.begin(), connections.end()};
  }
  bool Empty() {
    const std::lock_guard lock(mutex);
    return connections.empty();
  }
};

/// The URIs that a listener admits; nullptr for a Unix socket, which only its owner can open.
using ClientUris = std::shared_ptr<const std::vector<std::string>>;

/// The URI of the peer's certificate that the listener admits. The handshake has verified that there is one.
std::optional<std::string> FindUri(const ClientUris& uris, const net::Transport& transport) {
  net::Peer peer;
  transport.DescribePeer(peer);
  const std::string leaf = peer.certificates_der.empty() ? std::string() : peer.certificates_der.front();
  for (const std::string& uri : net::CertificateUris(leaf)) {
    if (std::find(uris->begin(), uris->end(), uri) != uris->end()) return uri;
  }
  return std::nullopt;
}

void StartConnection(const std::shared_ptr<Shared>& shared, const asio::any_io_executor& executor,
                     const Http2Client& client, std::unique_ptr<net::Transport> transport) {
  Http2Options options{.clock = shared->clock};
  options.server = true;
  options.keepalive = kKeepalive;
  options.limits = shared->limits;
  options.accept = shared->new_streams(client);
  auto self = std::make_shared<std::weak_ptr<Http2Connection>>();
  // Holding `shared` here would be a cycle, because it holds the connection.
  options.closed = [weak = std::weak_ptr(shared), self](const std::string&) {
    const auto connection = self->lock();
    const auto server = weak.lock();
    if (!server) return;
    const std::lock_guard lock(server->mutex);
    server->connections.erase(connection);
  };
  auto connection = Http2Connection::Start(executor, std::move(transport), std::move(options));
  *self = connection;
  const std::lock_guard lock(shared->mutex);
  shared->connections.insert(connection);
  if (shared->stopping) connection->GoAway();
}

/// The TLS handshake, after which the connection starts. Each step waits until the transport is ready for another
/// attempt.
struct PendingHandshake : std::enable_shared_from_this<PendingHandshake> {
  std::shared_ptr<Shared> shared;
  asio::any_io_executor executor;
  std::size_t listener;
  ClientUris uris;
  std::unique_ptr<net::Transport> transport;
  asio::steady_timer timer;
  std::optional<std::list<std::weak_ptr<PendingHandshake>>::iterator> place;  // its position in shared->handshakes;
                                                                              // guarded by its mutex

  PendingHandshake(std::shared_ptr<Shared> s, asio::any_io_executor e, std::size_t l, ClientUris u,
                   std::unique_ptr<net::Transport> t)
      : shared(std::move(s)),
        executor(std::move(e)),
        listener(l),
        uris(std::move(u)),
        transport(std::move(t)),
        timer(executor, kHandshakeTime) {}
  ~PendingHandshake() {
    const std::lock_guard lock(shared->mutex);
    if (place) shared->handshakes.erase(*place);
  }

  void Begin() {
    EndOldest();
    timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && self->transport) self->transport->Close();
    });
    Step();
  }
  /// A peer that responds completes within a few turns of the event loop, so the oldest handshake is one without a
  /// response.
  void EndOldest() {
    std::shared_ptr<PendingHandshake> oldest;
    const std::lock_guard lock(shared->mutex);
    place = shared->handshakes.insert(shared->handshakes.end(), weak_from_this());
    if (shared->handshakes.size() <= kMostHandshakes) return;
    oldest = shared->handshakes.front().lock();
    if (!oldest) return;  // its destructor, on another thread, waits for the mutex to remove it
    shared->handshakes.pop_front();
    oldest->place.reset();
    asio::post(oldest->executor, [oldest] {
      if (oldest->transport) oldest->transport->Close();
    });
  }
  void Step() {
    const auto again = [self = shared_from_this()] { self->Step(); };
    switch (transport->TryHandshake()) {
      case net::Transport::Handshake::kDone: return Finish();
      case net::Transport::Handshake::kWantRead: return transport->WaitReadable(again);
      case net::Transport::Handshake::kWantWrite: return transport->WaitWritable(again);
      case net::Transport::Handshake::kFailed:
        log::Debug("TLS handshake failed: {}", transport->Error());
        timer.cancel();
        transport->Close();
    }
  }
  void Finish() {
    timer.cancel();
    const std::optional<std::string> uri = uris ? FindUri(uris, *transport) : std::nullopt;
    if (uris && !uri) return transport->Close();
    StartConnection(shared, executor, {listener, uri}, std::move(transport));
  }
};

}  // namespace

/// The listening sockets, and what the connections share.
class Http2Server::State {
 public:
  State(const std::vector<Http2Listener>& listeners, std::shared_ptr<Shared> shared,
        std::vector<asio::io_context*> workers)
      : workers_(std::move(workers)), shared_(std::move(shared)) {
    for (const Http2Listener& listener : listeners) sockets_.push_back(Listen(listener));
    for (auto& socket : sockets_) WaitForConnections(*socket);
  }

  int Port(std::size_t index) const { return sockets_[index]->port; }

  void Drain(std::chrono::milliseconds limit) {
    StopListening();
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
    }
    for (const auto& connection : shared_->Connections())
      asio::post(connection->Executor(), [connection] { connection->GoAway(); });
    const SteadyTime end = shared_->clock.Steady() + limit;
    while (!shared_->Empty() && shared_->clock.Steady() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (const auto& connection : shared_->Connections()) Shared::CloseSoon(connection);
  }

 private:
  struct ListeningSocket {
    ListeningSocket(asio::io_context& io, int fd) : socket(io, fd), pause(io) {}
    asio::posix::stream_descriptor socket;
    asio::steady_timer pause;
    std::unique_ptr<net::ServerTls> tls;
    std::size_t index = 0;
    ClientUris uris;  // nullptr: every client that can connect is admitted
    int port = 0;
  };

  std::shared_ptr<ListeningSocket> Listen(const Http2Listener& listener) {
    const bool local = std::string_view(listener.address).starts_with(kUnix);
    std::unique_ptr<net::ServerTls> tls;
    std::string address = listener.address;
    int port = 0;
    if (local) {
      MakeSocketFolder(address.substr(kUnix.size()));
    } else {
      tls = TlsFor(listener, shared_->clock);
      const std::size_t colon = address.rfind(':');
      if (colon == std::string::npos) throw std::runtime_error(fmt::format("\"{}\" is not host:port", address));
      port = std::atoi(address.c_str() + colon + 1);
      address.resize(colon);
      if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    }
    const net::ListenSocket opened = net::OpenListenSocket(address, port);
    auto socket = std::make_shared<ListeningSocket>(*workers_[0], opened.fd);
    socket->index = sockets_.size();
    socket->tls = std::move(tls);
    if (!local) socket->uris = std::make_shared<const std::vector<std::string>>(listener.client_uris);
    socket->port = local ? 0 : opened.port;
    return socket;
  }

  void WaitForConnections(ListeningSocket& listening) {
    listening.socket.async_wait(asio::posix::stream_descriptor::wait_read,
                                [this, &listening](const boost::system::error_code& error) {
                                  if (error) return;
                                  for (int i = 0; i < kAcceptsPerTurn; ++i) {
                                    net::AcceptedSocket accepted = net::AcceptOne(listening.socket.native_handle());
                                    if (accepted.out_of_descriptors) return Pause(listening);
                                    if (accepted.fd < 0) break;
                                    Adopt(listening, accepted.fd);
                                  }
                                  WaitForConnections(listening);
                                });
  }

  void Pause(ListeningSocket& listening) {
    log::Warning("out of file descriptors; new connections wait");
    listening.pause.expires_after(std::chrono::milliseconds(100));
    listening.pause.async_wait([this, &listening](const boost::system::error_code& error) {
      if (!error) WaitForConnections(listening);
    });
  }

  void Adopt(ListeningSocket& listening, int fd) {
    net::SslPtr ssl;
    if (listening.tls && !(ssl = listening.tls->NewSession())) {
      ::close(fd);
      return;
    }
    asio::io_context& worker = *workers_[next_worker_++ % workers_.size()];
    auto begin = [shared = shared_, executor = asio::any_io_executor(worker.get_executor()), index = listening.index,
                  uris = listening.uris, fd, ssl = std::move(ssl)]() mutable {
      auto transport = net::NewTransport(executor, fd, std::move(ssl), shared->clock);
      std::make_shared<PendingHandshake>(shared, executor, index, std::move(uris), std::move(transport))->Begin();
    };
    asio::dispatch(worker, std::move(begin));
  }

  void StopListening() {
    if (stopped_listening_.exchange(true)) return;
    // A worker that no longer runs must not block this thread, and a slow one may run `close` after this object is
    // destroyed.
    auto closed = std::make_shared<std::promise<void>>();
    auto close = [sockets = sockets_, closed] {
      for (const auto& socket : sockets) {
        boost::system::error_code ignored;
        socket->pause.cancel();
        socket->socket.close(ignored);
      }
      closed->set_value();
    };
    if (workers_[0]->stopped()) return close();
    asio::dispatch(*workers_[0], close);
    closed->get_future().wait_for(std::chrono::seconds(1));
  }

  const std::vector<asio::io_context*> workers_;
  const std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<ListeningSocket>> sockets_;
  std::atomic<std::size_t> next_worker_{0};
  std::atomic<bool> stopped_listening_{false};
};

Http2Server::Http2Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Http2Server::~Http2Server() { Drain(std::chrono::milliseconds(0)); }

int Http2Server::Port(std::size_t index) const { return state_->Port(index); }
void Http2Server::Drain(std::chrono::milliseconds limit) { state_->Drain(limit); }

std::unique_ptr<Http2Server> ServeStreams(const std::vector<Http2Listener>& listeners, NewStreams new_streams,
                                          const http2::Limits& limits, std::vector<asio::io_context*> workers,
                                          const Clock& clock) {
  auto shared = std::make_shared<Shared>(clock);
  shared->new_streams = std::move(new_streams);
  shared->limits = limits;
  auto state = std::make_unique<Http2Server::State>(listeners, std::move(shared), std::move(workers));
  return std::make_unique<Http2Server>(std::move(state));
}

std::unique_ptr<Http2Server> ServeHttp2(const std::vector<Http2Listener>& listeners, Handler handler,
                                        const Limits& limits, std::vector<asio::io_context*> workers,
                                        const Clock& clock) {
  const auto shared = std::make_shared<ServerShared>(clock);
  shared->limits = limits;
  shared->handler = std::move(handler);
  const auto new_streams = [shared](const Http2Client&) -> StreamFactory {
    const auto calls = std::make_shared<Http2Calls>(shared, std::make_shared<const net::Peer>(), nullptr);
    return [calls](const asio::any_io_executor& executor) { return std::make_shared<Http2Call>(executor, calls); };
  };
  http2::Limits http2_limits;
  http2_limits.stream_window = kEarlyBodyBytes;
  return ServeStreams(listeners, new_streams, http2_limits, std::move(workers), clock);
}

}  // namespace apimesh::http
