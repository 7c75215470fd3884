#include "services/aggregator/delegation/forwarder.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "lib/mesh/deleted_namespace_header.h"
#include "lib/mesh/served_header.h"
#include "services/aggregator/auth/revocable_end.h"
#include "services/aggregator/delegation/audit_headers.h"
#include "services/aggregator/delegation/mesh_request.h"
#include "services/aggregator/delegation/throttle.h"
#include "services/aggregator/edge/request_body.h"
#include "services/aggregator/extensions/extension_server.h"
#include "services/aggregator/watches/forward_watch.h"
#include "services/aggregator/watches/websocket_watch.h"

namespace apimesh::aggregator {
namespace {

/// How long the response about a new definition waits until the discovery lists its resources.
constexpr Duration kDiscoveryWait = std::chrono::seconds(1);
/// The response must not miss the deadline of the request because it waits.
constexpr Duration kReserve = std::chrono::milliseconds(100);

/// Writes a delegate's stream to the client. The cancel callback may run on any thread.
class ClientStream final : public mesh::ResponseStream {
 public:
  ClientStream(Exchange& exchange, bool compress)
      : exchange_(exchange),
        compress_(compress),
        events_(exchange.info.verb == meta::Verb::kWatch ? exchange.metrics.Events() : nullptr) {}

  Task<bool> WriteHead(int code, mesh::Headers headers) override {
    TakeAuditHeaders(headers, exchange_);
    if (exchange_.long_running && exchange_.slot) exchange_.slot->Release();  // a watch that waits for events
    return exchange_.reply.Start(code, std::move(headers), compress_);
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    if (events_) CountEvents(*events_, pieces);
    return exchange_.reply.Write(std::move(pieces));
  }
  Task<bool> WriteComplete(mesh::Response response) override {
    whole_ = true;
    TakeAuditHeaders(response.headers, exchange_);
    return exchange_.reply.Send(response.code, std::move(response.headers), std::move(response.body));
  }
  void Abort() override {
    aborted_ = true;
    exchange_.reply.Abort();
  }
  void OnCancel(std::function<void()> callback) override {
    std::unique_lock lock(mutex_);
    if (cancelled_) {
      lock.unlock();
      callback();
    } else {
      callback_ = std::move(callback);
    }
  }

  void Cancel() {
    std::unique_lock lock(mutex_);
    cancelled_ = true;
    const auto callback = std::exchange(callback_, nullptr);
    lock.unlock();
    if (callback) callback();
  }
  /// Whether the response has started and its end has not been sent.
  bool Unfinished() const { return exchange_.reply.HeadSent() && !aborted_ && !whole_; }

 private:
  Exchange& exchange_;
  const bool compress_;
  WatchEventMetrics* const events_;  // nullptr: not a watch
  bool aborted_ = false;
  bool whole_ = false;
  std::mutex mutex_;
  bool cancelled_ = false;          // guarded by mutex_
  std::function<void()> callback_;  // guarded by mutex_
};

/// Cancels the request when its client disconnects.
class ForClient {
 public:
  ForClient(Exchange& exchange, mesh::Request& request) : exchange_(exchange) {
    request.cancel = &cancel_;
    exchange_.reply.OnDisconnect([this] {
      if (const auto cancel = std::exchange(cancel_, nullptr)) cancel();  // this may destroy the object
    });
  }
  ~ForClient() { exchange_.reply.OnDisconnect(nullptr); }
  ForClient(const ForClient&) = delete;

 private:
  Exchange& exchange_;
  std::function<void()> cancel_;
};

/// Whether a watch may share its upstream with others: only watches of servers in the mesh, and of extension servers
/// that permit it.
bool Shareable(const Exchange& exchange, const Delegate& delegate) {
  const bool permitted = delegate.kind == Delegate::Kind::kExtension
                             ? delegate.shared_watches && delegate.shared_watches->contains(exchange.info.resource)
                             : delegate.kind != Delegate::Kind::kExternal;
  return permitted && exchange.info.verb == meta::Verb::kWatch && exchange.info.is_resource_request &&
         exchange.request.method == "GET";
}

/// Removes the headers of lib/mesh/served_header.h and returns the resources that they name.
std::vector<meta::Gvr> TakeServedResources(mesh::Headers& headers) {
  std::vector<meta::Gvr> resources;
  std::erase_if(headers, [&resources](const auto& header) {
    if (header.first != mesh::kServedResourceHeader) return false;
    const std::string& text = header.second;
    const std::size_t version = text.find('/'), resource = text.rfind('/');
    if (version < resource)
      resources.push_back(
          {text.substr(0, version), text.substr(version + 1, resource - version - 1), text.substr(resource + 1)});
    return true;
  });
  return resources;
}

Task<> PumpToDelegate(http::RawConnection& client, mesh::ByteStream& delegate, Throttle throttle) {
  for (;;) {
    std::string data = co_await client.Read();
    if (data.empty()) break;
    co_await throttle.Pass(data.size());
    if (!co_await delegate.Write(std::move(data))) break;
  }
  delegate.Close();
}

Task<> PumpToClient(mesh::ByteStream& delegate, http::RawConnection& client, Throttle throttle) {
  for (;;) {
    auto data = co_await delegate.Read();
    if (!data || data->empty()) break;
    co_await throttle.Pass(data->size());
    if (!co_await client.Write(std::move(*data))) break;
  }
  client.Close();
}

}  // namespace

Task<> Forwarder::Forward(Exchange& exchange) {
  RoutesPtr routes = routes_->Current();  // keeps the client alive for this request
  const Delegate* delegate = routes->For(exchange.info);
  if (delegate == nullptr) {
    co_await exchange.reply.SendError(meta::GenericNotFound());
    co_return;
  }
  const bool external = delegate->kind == Delegate::Kind::kExternal;
  exchange.audit.foreign = delegate->Foreign();
  if (!delegate->Foreign()) exchange.metrics.body_bytes = 0;
  if (delegate->Foreign() && exchange.audit.wanted) exchange.reply.KeepBody(Reply::Keep::kStatus);
  const bool list = exchange.info.verb == meta::Verb::kList;
  const bool asks_for_upgrade = AsksForUpgrade(exchange.request) && exchange.info.is_resource_request;
  const bool upgrade = asks_for_upgrade && !AsksForHttp2(exchange.request) &&
                       (external || (!list && exchange.info.verb != meta::Verb::kWatch));
  const bool socket_watch = asks_for_upgrade && !AsksForHttp2(exchange.request) && !external &&
                            exchange.info.verb == meta::Verb::kWatch && AsksForWebSocket(exchange.request);
  // Lists and watches ignore the upgrade, except a watch to WebSocket, and so does a request for HTTP/2, but the client
  // may already have sent bytes for the upgraded protocol. They must never be parsed as a request.
  if (asks_for_upgrade && !upgrade && !socket_watch) exchange.reply.SetHeader("connection", "close");
  if (exchange.reply.HasBody() && NeedsBody(exchange, external)) {
    const bool read = co_await ReadBody(exchange);
    if (!read) co_return;
    // The body can take a minute. Meanwhile, the group may have been moved, and the process that served it may be gone.
    if (!delegate->Foreign()) {
      RoutesPtr newest = routes_->Current();
      const Delegate* const now = newest->For(exchange.info);
      if (now && !now->Foreign()) {
        delegate = now;
        routes = std::move(newest);
      }
    }
  }
  mesh::Request request = ToMeshRequest(exchange, external);
  if (deleted_namespaces_.Contains(exchange.info.ns, exchange.clock.Steady()) && !delegate->Foreign())
    request.headers.emplace_back(mesh::kDeletedNamespaceHeader, "true");
  if (delegate->kind == Delegate::Kind::kExtension) AskForJson(request);
  if (asks_for_upgrade && !upgrade) RemoveUpgrade(request.headers);
  if (upgrade) {
    co_await ForwardConnection(exchange, *delegate->client, std::move(request));
  } else if (socket_watch) {
    co_await ForwardWebSocketWatch(exchange, *delegate->client, std::move(request), *lifecycle_, *open_requests_);
  } else if (std::optional<WatchQuery> watch; Shareable(exchange, *delegate) && (watch = ReadWatchQuery(request))) {
    co_await ForwardWatch(exchange, routes_, std::move(request), std::move(*watch), *lifecycle_, *open_requests_);
  } else if (exchange.long_running || external || list) {
    co_await ForwardStream(exchange, *delegate->client, std::move(request));
  } else {
    mesh::Response response = co_await Call(exchange, *delegate->client, std::move(request));
    TakeAuditHeaders(response.headers, exchange);
    std::vector<meta::Gvr> served = TakeServedResources(response.headers);
    if (!served.empty() && !delegate->Foreign()) {
      const SteadyTime limit = exchange.clock.Steady() + kDiscoveryWait;
      co_await RouteTable::WaitFor(routes_, std::move(served), std::min(limit, exchange.deadline - kReserve));
    }
    co_await exchange.reply.Send(response.code, std::move(response.headers), std::move(response.body));
  }
}

Task<mesh::Response> Forwarder::Call(Exchange& exchange, mesh::DelegateClient& client, mesh::Request&& request) {
  const ForClient for_client(exchange, request);
  mesh::Response response = co_await client.Call(std::move(request));
  // A deletion without an answer may have happened, so only those are ignored that were certainly refused.
  const bool refused = response.code >= 400 && response.code < 500;
  const bool deletes = exchange.info.verb == meta::Verb::kDelete && exchange.info.IsNamespaceItself();
  if (deletes && !refused) deleted_namespaces_.Add(exchange.info.ns, exchange.clock.Steady());
  co_return response;
}

Task<> Forwarder::ForwardStream(Exchange& exchange, mesh::DelegateClient& client, mesh::Request request) {
  auto stream = std::make_shared<ClientStream>(exchange, !exchange.long_running);
  exchange.reply.OnDisconnect([stream] { stream->Cancel(); });
  const auto executor = co_await boost::asio::this_coro::executor;
  const RevocableEnd end(executor, [stream] { stream->Cancel(); }, [&exchange] { exchange.reply.Abort(); });
  std::shared_ptr<void> registration, open;
  if (exchange.info.verb == meta::Verb::kWatch) registration = lifecycle_->OnDrain(end.Callback());
  if (exchange.grounds)
    open = open_requests_->Add(std::move(*exchange.grounds), end.Callback(), exchange.clock.Steady());
  request.accepts_revocable_memory = true;  // http::ResponseWriter checks it
  co_await client.Stream(std::move(request), *stream);
  open.reset();
  registration.reset();
  exchange.reply.OnDisconnect(nullptr);
  if (stream->Unfinished()) co_await exchange.reply.Finish();
}

Task<> Forwarder::ForwardConnection(Exchange& exchange, mesh::DelegateClient& client, mesh::Request request) {
  using namespace boost::asio::experimental::awaitable_operators;
  mesh::Connection upstream = co_await client.Connect(std::move(request));
  TakeAuditHeaders(upstream.head.headers, exchange);
  if (upstream.head.code != 101 || !upstream.stream) {
    // The client may already have sent bytes for the upgraded protocol. They must never be parsed as a request.
    exchange.reply.SetHeader("connection", "close");
    co_await exchange.reply.Send(upstream.head.code, std::move(upstream.head.headers), std::move(upstream.head.body));
    co_return;
  }
  const std::unique_ptr<http::RawConnection> tunnel = co_await exchange.reply.Upgrade(std::move(upstream.head.headers));
  if (!tunnel) co_return;
  mesh::ByteStream& delegate = *upstream.stream;
  const auto executor = co_await boost::asio::this_coro::executor;
  const RevocableEnd end(executor, [&delegate] { delegate.Close(); }, [&tunnel] { tunnel->Close(); });
  const auto registration = lifecycle_->OnDrain(end.Callback());
  std::shared_ptr<void> open;
  if (exchange.grounds)
    open = open_requests_->Add(std::move(*exchange.grounds), end.Callback(), exchange.clock.Steady());
  const Throttle throttle(tunnel_bytes_per_second_, exchange.clock);
  co_await (PumpToDelegate(*tunnel, delegate, throttle) && PumpToClient(delegate, *tunnel, throttle));
}

}  // namespace apimesh::aggregator
