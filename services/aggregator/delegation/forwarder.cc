#include "services/aggregator/delegation/forwarder.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>

#include "lib/rpc/audit_annotation.h"
#include "services/aggregator/delegation/mesh_request.h"
#include "services/aggregator/edge/request_body.h"
#include "services/aggregator/watches/forward_watch.h"

namespace apimesh::aggregator {
namespace {

/// The client as the end of a stream from a delegate. The cancel callback may come from any thread.
class ClientStream final : public rpc::ResponseStream {
 public:
  ClientStream(Exchange& exchange, bool compress) : exchange_(exchange), compress_(compress) {}

  Task<bool> WriteHead(int code, rpc::Headers headers) override { return exchange_.reply.Start(code, std::move(headers), compress_); }
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return exchange_.reply.Write(std::move(pieces)); }
  Task<bool> WriteWhole(rpc::Response response) override {
    whole_ = true;
    return exchange_.reply.Send(response.code, std::move(response.headers), std::move(response.body));
  }
  bool Guard(std::function<bool()> intact) override { return exchange_.reply.Guard(std::move(intact)); }
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
  /// Whether the end of the answer is still to be told.
  bool Unfinished() const { return exchange_.reply.HeadSent() && !aborted_ && !whole_; }

 private:
  Exchange& exchange_;
  const bool compress_;
  bool aborted_ = false;
  bool whole_ = false;
  std::mutex mutex_;
  bool cancelled_ = false;           // guarded by mutex_
  std::function<void()> callback_;  // guarded by mutex_
};

/// A client that goes away takes its request with it.
class ForClient {
 public:
  ForClient(Exchange& exchange, rpc::Request& request) : exchange_(exchange) {
    request.cancel = &cancel_;
    exchange_.reply.OnDisconnect([this] {
      if (const auto cancel = std::exchange(cancel_, nullptr)) cancel();  // which may be the end of us
    });
  }
  ~ForClient() { exchange_.reply.OnDisconnect(nullptr); }
  ForClient(const ForClient&) = delete;

 private:
  Exchange& exchange_;
  std::function<void()> cancel_;
};

/// What a server of the mesh wants to have in the audit event.
void TakeAuditAnnotations(rpc::Headers& headers, Exchange& exchange) {
  std::erase_if(headers, [&exchange](const auto& header) {
    if (header.first != rpc::kAuditAnnotationHeader) return false;
    const std::size_t equals = std::min(header.second.find('='), header.second.size());
    exchange.audit_annotations[header.second.substr(0, equals)] = header.second.substr(std::min(equals + 1, header.second.size()));
    return true;
  });
}

/// Watches of the mesh's own servers can share an upstream.
bool Shareable(const Exchange& exchange, bool external) {
  return !external && exchange.info.verb == "watch" && exchange.info.is_resource_request && exchange.request.method == "GET";
}

Task<> PumpToDelegate(http::RawConnection& client, rpc::ByteStream& delegate) {
  for (;;) {
    std::string data = co_await client.Read();
    if (data.empty()) break;
    if (!co_await delegate.Write(std::move(data))) break;
  }
  delegate.Close();
}

Task<> PumpToClient(rpc::ByteStream& delegate, http::RawConnection& client) {
  for (;;) {
    auto data = co_await delegate.Read();
    if (!data || data->empty()) break;
    if (!co_await client.Write(std::move(*data))) break;
  }
  client.Close();
}

}  // namespace

Task<> Forwarder::Forward(Exchange& exchange) {
  const RoutesPtr routes = routes_->Current();  // keeps the client alive for this request
  const Delegate* delegate = routes->For(exchange.info);
  if (delegate == nullptr) {
    co_await exchange.reply.SendError(meta::GenericNotFound());
    co_return;
  }
  const bool upgrade = AsksForUpgrade(exchange.request) && exchange.info.is_resource_request &&
                       (exchange.info.verb != "watch" || delegate->kind == Delegate::Kind::kExternal);
  const bool external = delegate->kind == Delegate::Kind::kExternal;
  if (exchange.reply.HasBody() && NeedsBody(exchange, external)) {
    const bool read = co_await ReadBody(exchange);
    if (!read) co_return;
  }
  rpc::Request request = ToMeshRequest(exchange, external);
  if (upgrade) {
    co_await ForwardConnection(exchange, *delegate->client, std::move(request));
  } else if (std::optional<WatchQuery> watch; Shareable(exchange, external) && (watch = ReadWatchQuery(request))) {
    co_await ForwardWatch(exchange, *delegate, std::move(request), std::move(*watch), *lifecycle_, *open_requests_);
  } else if (exchange.long_running || external || exchange.info.verb == "list") {
    co_await ForwardStream(exchange, *delegate->client, std::move(request));
  } else {
    // Only reads can be large enough to be asked for again, and they have no body that would be missing then.
    const bool may_repeat = request.method == "GET";
    std::optional<ForClient> for_client(std::in_place, exchange, request);
    rpc::Response response = co_await delegate->client->Call(std::move(request));
    for_client.reset();
    if (response.use_stream && may_repeat) {
      rpc::Request again = ToMeshRequest(exchange);
      co_await ForwardStream(exchange, *delegate->client, std::move(again));
    } else {
      TakeAuditAnnotations(response.headers, exchange);
      co_await exchange.reply.Send(response.code, std::move(response.headers), std::move(response.body));
    }
  }
}

Task<> Forwarder::ForwardStream(Exchange& exchange, rpc::DelegateClient& client, rpc::Request request) {
  auto stream = std::make_shared<ClientStream>(exchange, !exchange.long_running);
  exchange.reply.OnDisconnect([stream] { stream->Cancel(); });
  // Posted: the request must not end inside of whoever ends it.
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto end = [stream, executor] { boost::asio::post(executor, [stream] { stream->Cancel(); }); };
  std::shared_ptr<void> registration, open;
  if (exchange.info.verb == "watch") registration = lifecycle_->OnDrain(end);
  if (exchange.grounds) open = open_requests_->Add(std::move(*exchange.grounds), end, Clock::System().Steady());
  co_await client.Stream(std::move(request), *stream);
  open.reset();
  registration.reset();
  exchange.reply.OnDisconnect(nullptr);
  if (stream->Unfinished()) co_await exchange.reply.Finish();
}

Task<> Forwarder::ForwardConnection(Exchange& exchange, rpc::DelegateClient& client, rpc::Request request) {
  using namespace boost::asio::experimental::awaitable_operators;
  rpc::Connection upstream = co_await client.Connect(std::move(request));
  if (upstream.head.code != 101 || !upstream.stream) {
    // The client may have sent bytes meant for the other side already: they must never be read as a request.
    exchange.reply.SetHeader("connection", "close");
    co_await exchange.reply.Send(upstream.head.code, std::move(upstream.head.headers), std::move(upstream.head.body));
    co_return;
  }
  const std::unique_ptr<http::RawConnection> tunnel = co_await exchange.reply.Upgrade(std::move(upstream.head.headers));
  if (!tunnel) co_return;
  rpc::ByteStream& delegate = *upstream.stream;
  // Closed on the thread of this connection, as long as there is something to close.
  const auto closable = std::make_shared<rpc::ByteStream*>(&delegate);
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto end = [weak = std::weak_ptr(closable), executor] {
    boost::asio::post(executor, [weak] {
      if (const auto stream = weak.lock()) (*stream)->Close();
    });
  };
  const auto registration = lifecycle_->OnDrain(end);
  std::shared_ptr<void> open;
  if (exchange.grounds) open = open_requests_->Add(std::move(*exchange.grounds), end, Clock::System().Steady());
  co_await (PumpToDelegate(*tunnel, delegate) && PumpToClient(delegate, *tunnel));
}

}  // namespace apimesh::aggregator
