#include "lib/rpc/delegate_server.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/strand.hpp>
#include <unordered_map>
#include <unordered_set>

#include "lib/base/log.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/grpc_server.h"
#include "lib/rpc/server_streams.h"
#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace apimesh::rpc {
namespace {

namespace asio = boost::asio;
using mesh::v1::Delegate;

// Call and Stream are raw: their bodies go out as slices that refer to shared bytes.
using Methods = Delegate::WithRawCallbackMethod_Call<Delegate::WithRawCallbackMethod_Stream<
    Delegate::WithCallbackMethod_Connect<Delegate::WithCallbackMethod_Describe<Delegate::Service>>>>;

/// One Call under way. A client that cancels it, or whose deadline passes, stops the handler: what the handler waits for
/// just then is cancelled.
class CallReactor final : public grpc::ServerUnaryReactor {
 public:
  explicit CallReactor(asio::any_io_executor executor) : strand_(asio::make_strand(std::move(executor))) {}

  /// The reactor stays until gRPC and the coroutine are both done with it.
  static grpc::ServerUnaryReactor* Start(std::shared_ptr<CallReactor> reactor, Task<> call) {
    reactor->self_ = reactor;
    auto ended = [reactor](std::exception_ptr) {};
    asio::co_spawn(reactor->strand_, std::move(call), asio::bind_cancellation_slot(reactor->cancel_.slot(), std::move(ended)));
    return reactor.get();
  }
  bool Cancelled() const { return cancelled_; }  // for the coroutine

 private:
  void OnCancel() override {
    asio::dispatch(strand_, [self = self_] {
      self->cancelled_ = true;
      self->cancel_.emit(asio::cancellation_type::terminal);
    });
  }
  void OnDone() override { const auto self = std::move(self_); }

  const asio::strand<asio::any_io_executor> strand_;
  asio::cancellation_signal cancel_;  // of strand_, as the next
  bool cancelled_ = false;
  std::shared_ptr<CallReactor> self_;
};

Task<> RunCall(std::shared_ptr<DelegateHandler> handler, Request request, grpc::ByteBuffer* answer,
               std::shared_ptr<CallReactor> reactor) {
  // Handlers see a cancelled wait as its failure, and end by their own logic; no co_await of theirs throws in between.
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    Response response = co_await handler->Call(std::move(request));
    *answer = Encode(response);
  } catch (const std::exception& error) {
    if (!reactor->Cancelled()) log::Error("call failed: {}", error.what());
    *answer = Encode(Response::Error(meta::InternalError(error.what())));
  }
  reactor->Finish(grpc::Status::OK);
  // Asio posts the end of a coroutine that was never suspended to the I/O thread; this counts as a suspension.
  co_await asio::dispatch(asio::use_awaitable);
}

Task<> RunStream(std::shared_ptr<DelegateHandler> handler, Request request, StreamWriter* writer) {
  try {
    co_await handler->Stream(std::move(request), *writer);
  } catch (const std::exception& error) {
    log::Error("stream failed: {}", error.what());
    writer->Abort();
  }
  writer->End();
}

Task<> RunConnect(std::shared_ptr<DelegateHandler> handler, Request request, std::unique_ptr<ConnectStream> stream) {
  try {
    co_await handler->Connect(std::move(request), std::move(stream));
  } catch (const std::exception& error) {
    log::Error("connection failed: {}", error.what());
  }
}

class DelegateService final : public Methods {
 public:
  DelegateService(std::shared_ptr<DelegateHandler> handler, asio::any_io_executor executor)
      : handler_(std::move(handler)), executor_(std::move(executor)) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context, const grpc::ByteBuffer* bytes,
                                 grpc::ByteBuffer* answer) override {
    Request request;
    if (!ParseRequest(*bytes, &request)) {
      auto* refused = context->DefaultReactor();
      refused->Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "not a Request"));
      return refused;
    }
    request.deadline = FromDeadline(context->raw_deadline());
    auto reactor = std::make_shared<CallReactor>(executor_);
    return CallReactor::Start(reactor, RunCall(handler_, std::move(request), answer, reactor));
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Stream(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* bytes) override {
    auto writer = std::make_shared<StreamWriter>([this](StreamWriter* done) { Forget(streams_, done); });
    Request request;
    if (!ParseRequest(*bytes, &request)) {
      Remember(streams_, writer, false);
      writer->Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "not a Request"));
      return writer.get();
    }
    request.deadline = FromDeadline(context->raw_deadline());
    if (!Remember(streams_, writer, request.info.verb == "watch")) writer->Interrupt();
    asio::co_spawn(asio::make_strand(executor_), RunStream(handler_, std::move(request), writer.get()), asio::detached);
    return writer.get();
  }

  grpc::ServerBidiReactor<mesh::v1::ConnectFrame, mesh::v1::ConnectFrame>* Connect(
      grpc::CallbackServerContext* context) override {
    auto start = [handler = handler_, executor = executor_](Request request, std::unique_ptr<ConnectStream> stream) {
      asio::co_spawn(asio::make_strand(executor), RunConnect(handler, std::move(request), std::move(stream)), asio::detached);
    };
    return ConnectReactor::New(FromDeadline(context->raw_deadline()), std::move(start));
  }

  grpc::ServerWriteReactor<mesh::v1::Description>* Describe(grpc::CallbackServerContext*,
                                                            const mesh::v1::DescribeRequest*) override {
    auto reactor = DescribeReactor::New(*handler_, [this](DescribeReactor* done) { Forget(descriptions_, done); });
    if (!Remember(descriptions_, reactor, true)) reactor->End(kStopping);
    return reactor.get();
  }

  /// Ends what would never end by itself, now and for calls that still come.
  void EndOpenStreams() {
    std::vector<std::shared_ptr<StreamWriter>> watches;
    std::vector<std::shared_ptr<DescribeReactor>> descriptions;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      for (const auto& [key, open] : streams_) {
        if (open.endless) watches.push_back(open.reactor);
      }
      for (const auto& [key, open] : descriptions_) descriptions.push_back(open.reactor);
    }
    for (const auto& watch : watches) watch->Interrupt();
    for (const auto& description : descriptions) description->End(kStopping);
  }

 private:
  template <class Reactor>
  struct Open {
    std::shared_ptr<Reactor> reactor;
    bool endless;
  };
  template <class Reactor>
  using OpenCalls = std::unordered_map<Reactor*, Open<Reactor>>;

  /// Keeps the reactor until Forget(). False: the server is stopping and the call should end.
  template <class Reactor>
  bool Remember(OpenCalls<Reactor>& calls, const std::shared_ptr<Reactor>& reactor, bool endless) {
    std::lock_guard lock(mutex_);
    calls.emplace(reactor.get(), Open<Reactor>{reactor, endless});
    return !(stopping_ && endless);
  }
  template <class Reactor>
  void Forget(OpenCalls<Reactor>& calls, Reactor* reactor) {
    std::unique_lock lock(mutex_);
    const auto node = calls.extract(reactor);  // destroyed after the lock is released
    lock.unlock();
  }

  inline static const grpc::Status kStopping{grpc::StatusCode::UNAVAILABLE, "the server is stopping"};
  const std::shared_ptr<DelegateHandler> handler_;
  const asio::any_io_executor executor_;
  std::mutex mutex_;
  bool stopping_ = false;  // guarded by mutex_, as all below
  OpenCalls<StreamWriter> streams_;
  OpenCalls<DescribeReactor> descriptions_;
};

class GrpcDelegateServer final : public DelegateServer {
 public:
  GrpcDelegateServer(const std::vector<Listener>& listeners, std::shared_ptr<DelegateHandler> handler,
                     asio::any_io_executor executor)
      : service_(std::move(handler), std::move(executor)), server_(listeners, {&service_}) {}
  ~GrpcDelegateServer() override { service_.EndOpenStreams(); }

  int Port(std::size_t index) const override { return server_.Port(index); }
  void SetServing(bool serving) override { server_.SetServing(serving); }
  void Drain(std::chrono::milliseconds limit) override {
    service_.EndOpenStreams();
    server_.Shutdown(limit);
  }

 private:
  DelegateService service_;
  GrpcServer server_;
};

}  // namespace

std::unique_ptr<DelegateServer> ServeDelegate(const std::vector<Listener>& listeners,
                                              std::shared_ptr<DelegateHandler> handler,
                                              asio::any_io_executor executor) {
  return std::make_unique<GrpcDelegateServer>(listeners, std::move(handler), std::move(executor));
}

}  // namespace apimesh::rpc
