#include "lib/grpc/channel.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/grpc/link.h"

namespace apimesh::grpc {
namespace asio = boost::asio;
namespace {

/// Returns a function that cancels the call if it still exists.
auto CancellerOf(std::shared_ptr<Link> link, const std::shared_ptr<ClientStream>& stream) {
  return [link = std::move(link), weak = std::weak_ptr<http2::Stream>(stream)] {
    link->Run([weak] {
      if (const auto live = weak.lock()) static_cast<ClientStream&>(*live).Abandon({Code::kCancelled, "cancelled"});
    });
  };
}

}  // namespace

ClientCall::ClientCall(std::shared_ptr<Link> link, std::shared_ptr<ClientStream> stream)
    : link_(std::move(link)), stream_(std::move(stream)) {}
ClientCall::ClientCall(ClientCall&&) noexcept = default;
ClientCall::~ClientCall() {
  if (stream_) Cancel();
}

Task<std::optional<std::string>> ClientCall::Read() {
  auto start = [link = link_, stream = stream_](Waiter<std::optional<std::string>> waiter) {
    link->Run([stream, waiter = std::move(waiter)]() mutable { stream->Read(std::move(waiter)); });
  };
  return Suspend<std::optional<std::string>>(std::move(start));
}

Task<bool> ClientCall::Write(Message message) {
  auto start = [link = link_, stream = stream_, message = std::move(message)](Waiter<bool> waiter) mutable {
    link->Run([stream, message = std::move(message), waiter = std::move(waiter)]() mutable {
      stream->Write(std::move(message), std::move(waiter));
    });
  };
  return Suspend<bool>(std::move(start));
}

void ClientCall::Post(Message message) {
  link_->Run([stream = stream_, message = std::move(message)]() mutable { stream->Post(std::move(message)); });
}

void ClientCall::WritesDone() {
  link_->Run([stream = stream_] { stream->WritesDone(); });
}

Task<Status> ClientCall::Finish() {
  auto start = [link = link_, stream = stream_](Waiter<Status> waiter) {
    link->Run([stream, waiter = std::move(waiter)]() mutable { stream->Finish(std::move(waiter)); });
  };
  return Suspend<Status>(std::move(start));
}

void ClientCall::Cancel() { Canceller()(); }

std::function<void()> ClientCall::Canceller() const { return CancellerOf(link_, stream_); }

Channel::Channel(ChannelOptions options)
    : options_(std::make_shared<const ChannelOptions>(std::move(options))),
      tls_(options_->tls ? std::make_shared<net::ClientTls>(options_->tls_files, options_->clock) : nullptr) {}

std::shared_ptr<Channel> Channel::New(ChannelOptions options) {
  return std::shared_ptr<Channel>(new Channel(std::move(options)));
}

Channel::~Channel() {
  for (const auto& [context, weak] : links_) {
    if (const auto link = weak.lock()) DropLink(link);
  }
}

std::shared_ptr<Link> Channel::LinkFor(const asio::any_io_executor& executor) {
  // All coroutines run on io_contexts, each of which has one thread.
  auto& context = static_cast<asio::io_context&>(asio::query(executor, asio::execution::context));
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Link>& slot = links_[&context];
  if (auto link = slot.lock()) return link;
  auto link = NewLink(context, options_, tls_);
  slot = link;
  return link;
}

Task<UnaryResult> Channel::Unary(std::string path, Message request, CallOptions options) {
  const std::shared_ptr<Link> link = LinkFor(co_await asio::this_coro::executor);
  std::function<void()>* const cancel = options.cancel;
  auto stream =
      std::make_shared<ClientStream>(std::move(path), std::move(options), options_->clock, options_->max_message_bytes);
  if (cancel) *cancel = CancellerOf(link, stream);
  auto start = [link, stream, request = std::move(request)](Waiter<UnaryResult> waiter) mutable {
    waiter.OnCancel(CancellerOf(link, stream));
    stream->BecomeUnary(std::move(request), std::move(waiter));
    link->Run([link, stream] { link->Start(stream); });
  };
  co_return co_await Suspend<UnaryResult>(std::move(start));
}

ClientCall Channel::OpenOn(const asio::any_io_executor& executor, std::string path, CallOptions options) {
  std::shared_ptr<Link> link = LinkFor(executor);
  auto stream =
      std::make_shared<ClientStream>(std::move(path), std::move(options), options_->clock, options_->max_message_bytes);
  link->Run([link, stream] { link->Start(stream); });
  return {std::move(link), std::move(stream)};
}

Task<ClientCall> Channel::Open(std::string path, CallOptions options) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  co_return OpenOn(executor, std::move(path), std::move(options));
}

}  // namespace apimesh::grpc
