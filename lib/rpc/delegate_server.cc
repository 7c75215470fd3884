#include "lib/rpc/delegate_server.h"

#include <mutex>
#include <unordered_set>

#include "lib/base/latest.h"
#include "lib/base/log.h"
#include "lib/h2/typed_call.h"
#include "lib/rpc/callers.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/large_body.h"
#include "lib/rpc/methods.h"
#include "lib/rpc/reflection.h"
#include "lib/rpc/server_streams.h"

namespace apimesh::rpc {
namespace {

const h2::Status kNotARequest{h2::Code::kInvalidArgument, "not a Request"};
const h2::Status kOnlyReads{h2::Code::kPermissionDenied, "this caller may only send GET requests"};
const h2::Status kStopping{h2::Code::kUnavailable, "the server is stopping"};

/// The segment of this process, if whoever asks can read it.
std::shared_ptr<segment::Segment> ReadableBy(const Request& request) {
  const std::string_view id = request.Header(kMemoryHeader);
  const auto& own = segment::Segment::Own();
  return own && !id.empty() && own->Id() == id ? own : nullptr;
}

bool MaySend(const h2::ServerCall& call, const Request& request) {
  return request.method == "GET" || !OnlyReads(call.CallerIdentity());
}

using DescriptionFeed = Latest<Description>;
/// A description is told whole with every change. Where a thousand definitions are created one after the other, several
/// changes become one: a large description is followed by a rest that is as long.
constexpr std::size_t kDescribedPerSecond = 4 << 20;

/// The calls of one handler. Shared with calls that outlive the server.
class DelegateCalls : public std::enable_shared_from_this<DelegateCalls> {
 public:
  explicit DelegateCalls(std::shared_ptr<DelegateHandler> handler) : handler_(std::move(handler)) {}

  h2::Methods Methods() {
    const auto self = shared_from_this();
    h2::Methods methods;
    methods.AddUnary(methods::kCall, [self](h2::ServerCallPtr call, std::string bytes) {
      return RunCall(self, std::move(call), std::move(bytes));
    });
    methods.AddStream(methods::kStream, [self](h2::ServerCallPtr call) { return RunStream(self, std::move(call)); });
    methods.AddStream(methods::kConnect, [self](h2::ServerCallPtr call) { return RunConnect(self, std::move(call)); });
    methods.AddStream(methods::kDescribe, [self](h2::ServerCallPtr call) { return RunDescribe(self, std::move(call)); });
    AddReflection(methods);
    return methods;
  }

  /// Ends what would never end by itself, now and for calls that still come.
  void EndOpenStreams() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    const auto watches = watches_;
    const auto feeds = feeds_;
    lock.unlock();
    for (const auto& watch : watches) watch->Interrupt();
    for (const auto& feed : feeds) feed->End();
  }

 private:
  using Self = std::shared_ptr<DelegateCalls>;

  static Task<h2::UnaryReply> RunCall(Self self, h2::ServerCallPtr call, std::string bytes) {
    h2::UnaryReply reply;
    Request request;
    if (!ParseRequest(bytes, &request)) {
      reply.status = kNotARequest;
      co_return reply;
    }
    if (!MaySend(*call, request)) {
      reply.status = kOnlyReads;
      co_return reply;
    }
    request.deadline = call->Deadline();
    if (request.body.size() > kLargeBodyBytes) {
      request.gone = std::make_shared<std::atomic<bool>>(false);
      call->OnCancel([gone = request.gone] { *gone = true; });
    }
    try {
      const Response response = co_await self->handler_->Call(std::move(request));
      reply.message = Encode(response);
    } catch (const std::exception& error) {
      if (!call->Gone()) log::Error("call failed: {}", error.what());
      reply.message = Encode(Response::Error(meta::InternalError(error.what())));
    }
    co_return reply;
  }

  static Task<> RunStream(Self self, h2::ServerCallPtr call) {
    const std::optional<std::string> bytes = co_await call->Read();
    Request request;
    if (!bytes || !ParseRequest(*bytes, &request)) {
      call->Finish(kNotARequest);
      co_return;
    }
    if (!MaySend(*call, request)) {
      call->Finish(kOnlyReads);
      co_return;
    }
    request.deadline = call->Deadline();
    const bool endless = request.info.verb == "watch";
    const auto writer = std::make_shared<StreamWriter>(call, endless ? nullptr : ReadableBy(request));
    if (endless && !self->Remember(self->watches_, writer)) writer->Interrupt();
    call->OnCancel([weak = std::weak_ptr(writer)] {
      if (const auto live = weak.lock()) live->Interrupt();
    });
    try {
      co_await self->handler_->Stream(std::move(request), *writer);
    } catch (const std::exception& error) {
      log::Error("stream failed: {}", error.what());
      writer->Abort();
    }
    self->Forget(self->watches_, writer);
    co_await StreamWriter::End(writer);
  }

  static Task<> RunConnect(Self self, h2::ServerCallPtr call) {
    const std::optional<std::string> bytes = co_await call->Read();
    mesh::v1::ConnectFrame first;
    if (!bytes || !first.ParseFromString(*bytes) || !first.has_request()) {
      call->Finish({h2::Code::kInvalidArgument, "the first frame must have the request"});
      co_return;
    }
    Request request = FromProto(std::move(*first.mutable_request()));
    request.deadline = call->Deadline();
    auto stream = std::make_unique<ConnectEnd>(call);
    try {
      co_await self->handler_->Connect(std::move(request), std::move(stream));
    } catch (const std::exception& error) {
      log::Error("connection failed: {}", error.what());
    }
  }

  static Task<> RunDescribe(Self self, h2::ServerCallPtr call) {
    const auto feed = std::make_shared<DescriptionFeed>();
    if (!self->Remember(self->feeds_, feed)) feed->End();
    call->OnCancel([feed] { feed->End(); });
    const auto subscription = self->handler_->Describe([feed](Description description) {
      feed->Update([&](Description& newest) { newest = std::move(description); });
    });
    for (;;) {
      const std::optional<Description> description = co_await DescriptionFeed::Next(feed);
      if (!description) break;
      mesh::v1::Description told = ToProto(*description);
      if (const auto& own = segment::Segment::Own()) told.set_memory(own->Name());
      h2::Message message = h2::Pack(told);
      std::size_t size = 0;
      for (const SharedBytes& piece : message) size += piece.size();
      if (!co_await call->Write(std::move(message))) break;
      const auto rest = std::chrono::microseconds(size * 1'000'000 / kDescribedPerSecond);
      co_await DescriptionFeed::Rest(feed, Clock::System().Steady() + rest);
    }
    self->Forget(self->feeds_, feed);
    call->Finish(kStopping);
  }

  template <class T>
  using Open = std::unordered_set<std::shared_ptr<T>>;

  /// False: the server is stopping and the call should end.
  template <class T>
  bool Remember(Open<T>& calls, const std::shared_ptr<T>& call) {
    const std::lock_guard lock(mutex_);
    calls.insert(call);
    return !stopping_;
  }
  template <class T>
  void Forget(Open<T>& calls, const std::shared_ptr<T>& call) {
    const std::lock_guard lock(mutex_);
    calls.erase(call);
  }

  const std::shared_ptr<DelegateHandler> handler_;
  std::mutex mutex_;
  bool stopping_ = false;  // guarded by mutex_, as all below
  Open<StreamWriter> watches_;
  Open<DescriptionFeed> feeds_;
};

class GrpcDelegateServer final : public DelegateServer {
 public:
  GrpcDelegateServer(const std::vector<Listener>& listeners, std::shared_ptr<DelegateHandler> handler,
                     std::vector<boost::asio::io_context*> workers)
      : calls_(std::make_shared<DelegateCalls>(std::move(handler))),
        server_(h2::Serve(listeners, calls_->Methods(), std::move(workers))) {}
  ~GrpcDelegateServer() override { calls_->EndOpenStreams(); }

  int Port(std::size_t index) const override { return server_->Port(index); }
  void SetServing(bool serving) override { server_->SetServing(serving); }
  void Drain(std::chrono::milliseconds limit) override {
    calls_->EndOpenStreams();
    server_->Drain(limit);
  }

 private:
  const std::shared_ptr<DelegateCalls> calls_;
  const std::unique_ptr<h2::Server> server_;
};

}  // namespace

std::unique_ptr<DelegateServer> ServeDelegate(const std::vector<Listener>& listeners, std::shared_ptr<DelegateHandler> handler,
                                              std::vector<boost::asio::io_context*> workers) {
  return std::make_unique<GrpcDelegateServer>(listeners, std::move(handler), std::move(workers));
}

}  // namespace apimesh::rpc
