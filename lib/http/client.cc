#include "lib/http/client.h"

#include <stdexcept>

#include <boost/asio/strand.hpp>
#include <unistd.h>

#include "lib/base/async/run_on.h"
#include "lib/http/client_connection.h"
#include "lib/http/message_parser.h"

namespace apimesh::http {
namespace {

namespace asio = boost::asio;
using Code = ClientError::Code;
using ConnectionPtr = std::shared_ptr<ClientConnection>;
using HeadFn = std::function<Task<bool>(int code, Headers headers)>;
constexpr std::size_t kHeaderBytes = 1 << 20;
/// The maximum length of an incomplete head, chunk extension or trailer, which is kept until the rest of it arrives.
constexpr std::size_t kUnparsedBytes = kHeaderBytes + (256 << 10);

ClientError Error(Code code, std::string message) { return {code, std::move(message)}; }

bool MayRepeat(const std::string& method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

std::string RequestHead(const std::string& method, const Url& url, const Headers& headers, std::size_t body_size,
                        bool upgrade) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", method, url.target);
  if (FindHeader(headers, "host").empty()) head += fmt::format("Host: {}\r\n", url.authority);
  for (const auto& [name, value] : headers) {
    if (name == "content-length" || name == "transfer-encoding" || (name == "connection" && !upgrade)) continue;
    if (value.find_first_of("\r\n") != std::string::npos || name.find_first_of(" :\r\n") != std::string::npos) continue;
    head += fmt::format("{}: {}\r\n", name, value);
  }
  const bool takes_body = method != "GET" && method != "HEAD" && method != "OPTIONS" && method != "DELETE";
  if (body_size > 0 || takes_body) head += fmt::format("Content-Length: {}\r\n", body_size);
  head += "\r\n";
  return head;
}

/// Idle connections by server. Thread-safe.
class Pool {
 public:
  Pool(std::size_t limit, const Clock& clock) : limit_(limit), clock_(clock) {}
  ~Pool() {
    for (auto& [key, list] : idle_) {
      for (net::Transport::Detached& resting : list) ::close(resting.fd);
    }
  }

  ConnectionPtr Take(const std::string& key, const asio::any_io_executor& executor) {
    const std::lock_guard lock(mutex_);
    const auto found = idle_.find(key);
    if (found == idle_.end()) return nullptr;
    ConnectionPtr connection;
    for (auto& idle = found->second; !idle.empty() && !connection;) {
      net::Transport::Detached resting = std::move(idle.back());
      idle.pop_back();
      --count_;
      connection = ClientConnection::Reuse(executor, std::move(resting), clock_);
    }
    // Clients of the mesh choose the servers, so a server without connections must not stay in the map.
    if (found->second.empty()) idle_.erase(found);
    return connection;
  }
  void Give(const std::string& key, ConnectionPtr connection) {
    const std::lock_guard lock(mutex_);
    if (count_ >= limit_) return;
    ++count_;
    idle_[key].push_back(connection->Detach());
  }

 private:
  const std::size_t limit_;
  const Clock& clock_;
  std::mutex mutex_;
  std::size_t count_ = 0;                                              // guarded by mutex_
  std::map<std::string, std::vector<net::Transport::Detached>> idle_;  // guarded by mutex_; no list is empty
};

class ClientTunnel final : public RawConnection {
 public:
  explicit ClientTunnel(ConnectionPtr connection) : connection_(std::move(connection)) {}
  ~ClientTunnel() override { connection_->Close(); }
  Task<std::string> Read() override {
    if (connection_->Unread().empty()) co_await connection_->ReadMore();
    std::string data(connection_->Unread());
    connection_->Consume(data.size());
    co_return data;
  }
  Task<bool> Write(std::string data) override {
    std::vector<std::string_view> pieces{data};
    co_return co_await connection_->Write(std::move(pieces));
  }
  void Close() override { connection_->Close(); }

 private:
  ConnectionPtr connection_;
};

struct Exchange {
  std::string method;
  Url url;
  Headers headers;
  std::string body;
  HeadFn head;
  Client::PieceFn piece;
  SteadyTime deadline;
  bool upgrade = false;
};

class PooledClient final : public Client {
 public:
  explicit PooledClient(ClientOptions options)
      : options_(std::move(options)),
        tls_(options_.tls, options_.clock),
        pool_(options_.max_idle_connections, options_.clock) {}

  Task<ClientResult<ClientResponse>> Do(std::string method, std::string url, Headers headers, std::string body,
                                        SteadyTime deadline) override {
    std::string collected;
    bool too_large = false;
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): lives until Stream() has returned
    PieceFn collect = [&collected, &too_large, limit = options_.max_response_bytes](std::string piece) -> Task<bool> {
      too_large = collected.size() + piece.size() > limit;
      if (!too_large) collected += piece;
      co_return !too_large;
    };
    HeadFn any_head = [](int, Headers) -> Task<bool> { co_return true; };
    auto response = co_await Stream(std::move(method), std::move(url), std::move(headers), std::move(body), any_head,
                                    collect, deadline);
    if (!response) co_return response.error();
    if (too_large)
      co_return Error(Code::kTooLarge, fmt::format("the answer is larger than {} bytes", options_.max_response_bytes));
    response->body = std::move(collected);
    co_return std::move(*response);
  }

  Task<ClientResult<ClientResponse>> Stream(std::string method, std::string url, Headers headers, std::string body,
                                            HeadFn head, PieceFn piece, SteadyTime deadline) override {
    auto parsed = ParseUrl(url);
    if (!parsed) co_return parsed.error();
    Exchange exchange{std::move(method), std::move(*parsed), std::move(headers),
                      std::move(body),   std::move(head),    std::move(piece),
                      deadline};
    // The deadline's timer and the call must not run concurrently, whichever executor the caller uses.
    const auto strand = asio::make_strand(co_await asio::this_coro::executor);
    Task<ClientResult<ClientResponse>> call = RunStream(std::move(exchange));
    co_return co_await apimesh::RunOn(asio::any_io_executor(strand), std::move(call));
  }

  Task<ClientResult<Upgraded>> Upgrade(std::string method, std::string url, Headers headers,
                                       SteadyTime deadline) override {
    auto parsed = ParseUrl(url);
    if (!parsed) co_return parsed.error();
    Exchange exchange{std::move(method), std::move(*parsed), std::move(headers), "", nullptr, nullptr, deadline, true};
    const auto strand = asio::make_strand(co_await asio::this_coro::executor);
    Task<ClientResult<Upgraded>> call = RunUpgrade(std::move(exchange));
    co_return co_await apimesh::RunOn(asio::any_io_executor(strand), std::move(call));
  }

 private:
  static ClientError Failure(const DeadlineTimer& timer, const char* otherwise) {
    if (timer.Expired()) return Error(Code::kTimeout, "deadline exceeded");
    return Error(Code::kProtocol, otherwise);
  }

  static std::string PoolKey(const Url& url) { return fmt::format("{} {} {}", url.tls, url.host, url.port); }

  Task<ClientResult<ConnectionPtr>> OpenWithin(const Exchange& exchange, DeadlineTimer& timer) {
    if (exchange.deadline <= options_.clock.Steady()) co_return Error(Code::kTimeout, "deadline exceeded");
    ClientConnection::WatchFn watch = [&timer](ConnectionPtr connection) { timer.Watch(std::move(connection)); };
    auto opened = co_await ClientConnection::Open(exchange.url, options_, tls_, watch, exchange.deadline);
    if (timer.Expired()) co_return Error(Code::kTimeout, "deadline exceeded");
    co_return opened;
  }

  Task<ClientResult<ClientResponse>> RunStream(Exchange exchange) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const std::string key = PoolKey(exchange.url);
    DeadlineTimer timer(executor, exchange.deadline);
    for (bool fresh = false;; fresh = true) {
      ConnectionPtr connection = fresh ? nullptr : pool_.Take(key, executor);
      const bool reused = connection != nullptr;
      if (reused) {
        timer.Watch(connection);
      } else {
        auto opened = co_await OpenWithin(exchange, timer);
        if (!opened) co_return opened.error();
        connection = std::move(*opened);
      }
      bool answered = false;
      auto result = co_await RunOn(connection, exchange, timer, key, answered);
      // A server may close an idle connection at the moment when it is reused.
      const bool again = !result && reused && !answered && !timer.Expired() && MayRepeat(exchange.method);
      if (!again) co_return result;
    }
  }

  Task<ClientResult<ClientResponse>> RunOn(ConnectionPtr connection, Exchange& exchange, DeadlineTimer& timer,
                                           std::string key, bool& answered) {
    const std::string head = RequestHead(exchange.method, exchange.url, exchange.headers, exchange.body.size(), false);
    std::vector<std::string_view> pieces{head, exchange.body};
    const bool written = co_await connection->Write(std::move(pieces));  // a server may respond before it has read
                                                                         // everything
    ClientResponse response;
    std::string pending;
    for (;;) {
      auto sink = [&pending](std::string_view data) { pending += data; };
      ResponseParser parser(exchange.method == "HEAD", kHeaderBytes, sink);
      bool head_given = false;
      while (!parser.Done()) {
        if (!connection->Unread().empty()) connection->Consume(parser.Feed(connection->Unread()));
        if (parser.Failed() || connection->Unread().size() > kUnparsedBytes)
          co_return Error(Code::kProtocol, "malformed HTTP response");
        if (parser.HeadDone() && !head_given && parser.Code() >= 200) {
          head_given = answered = true;
          response.code = parser.Code();
          response.headers = parser.TakeHeaders();
          if (!co_await exchange.head(response.code, response.headers)) co_return response;
        }
        if (!pending.empty()) {
          const bool wanted = co_await exchange.piece(std::exchange(pending, std::string()));
          if (!wanted) co_return response;
        }
        if (parser.Done()) break;
        if (co_await connection->ReadMore()) continue;
        if (timer.Expired() || !parser.FeedEnd()) {
          co_return Failure(timer, written ? "the server closed the connection" : "the request could not be written");
        }
      }
      if (parser.Code() < 200) continue;  // 100 Continue and other interim responses precede the response
      if (parser.KeepAlive() && written && connection->Unread().empty() && !connection->Closed()) {
        timer.Watch(nullptr);
        pool_.Give(key, std::move(connection));
      }
      co_return response;
    }
  }

  Task<ClientResult<Upgraded>> RunUpgrade(Exchange exchange) {
    DeadlineTimer timer(co_await asio::this_coro::executor, exchange.deadline);
    auto opened = co_await OpenWithin(exchange, timer);
    if (!opened) co_return opened.error();
    ConnectionPtr connection = std::move(*opened);
    const std::string head = RequestHead(exchange.method, exchange.url, exchange.headers, 0, true);
    std::vector<std::string_view> pieces{head};
    co_await connection->Write(std::move(pieces));
    Upgraded upgraded;
    auto sink = [&upgraded](std::string_view data) { upgraded.response.body += data; };
    ResponseParser parser(false, kHeaderBytes, sink);
    while (!parser.Done()) {
      if (!connection->Unread().empty()) connection->Consume(parser.Feed(connection->Unread()));
      if (parser.Failed() || connection->Unread().size() > kUnparsedBytes)
        co_return Error(Code::kProtocol, "malformed HTTP response");
      if (upgraded.response.body.size() > options_.max_response_bytes)
        co_return Error(Code::kTooLarge, "the answer is too large");
      if (parser.Done()) break;
      if (!co_await connection->ReadMore()) {
        if (timer.Expired() || !parser.FeedEnd()) co_return Failure(timer, "the server closed the connection");
      }
    }
    upgraded.response.code = parser.Code();
    upgraded.response.headers = parser.TakeHeaders();
    timer.Watch(nullptr);
    if (parser.Code() == 101) upgraded.connection = std::make_unique<ClientTunnel>(std::move(connection));
    co_return upgraded;
  }

  ClientOptions options_;
  net::ClientTls tls_;
  Pool pool_;
};

}  // namespace

void throw_exception_from_error(const ClientError& error, const boost::source_location&) {
  throw std::logic_error("value() on an error: " + error.message);
}

std::unique_ptr<Client> NewClient(ClientOptions options) { return std::make_unique<PooledClient>(std::move(options)); }

}  // namespace apimesh::http
