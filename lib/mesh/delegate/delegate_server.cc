#include "lib/mesh/delegate/delegate_server.h"

#include <mutex>
#include <unordered_set>

#include "lib/base/async/latest.h"
#include "lib/base/log.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/callers.h"
#include "lib/mesh/delegate/delegate_proto.h"
#include "lib/mesh/delegate/description_changes.h"
#include "lib/mesh/delegate/server_streams.h"
#include "lib/mesh/methods.h"
#include "lib/mesh/reflection.h"

namespace apimesh::mesh {
namespace {

const grpc::Status kNotARequest{grpc::Code::kInvalidArgument, "not a Request"};
const grpc::Status kOnlyReads{grpc::Code::kPermissionDenied, "this caller may only send GET requests"};
const grpc::Status kStopping{grpc::Code::kUnavailable, "the server is stopping"};

/// The segment of this process, if the sender of the request can read it.
std::shared_ptr<shared_memory::Segment> ReadableBy(const Request& request) {
  const std::string_view id = request.Header(kMemoryHeader);
  const auto& own = shared_memory::Segment::Own();
  return own && !id.empty() && own->Id() == id ? own : nullptr;
}

bool MaySend(const grpc::ServerCall& call, const Request& request) {
  return request.method == "GET" || !OnlyReads(call.CallerIdentity());
}

using DescriptionFeed = Latest<Description>;
/// When many definitions are created one after the other, changes are merged: after each message, the server waits for
/// a time proportional to the size of the message and to the number of all group-versions, which the client indexes.
constexpr std::size_t kDescribedPerSecond = 4 << 20;
constexpr std::chrono::microseconds kRestPerVersion{8};

}  // namespace

/// The calls of one handler. It is shared with calls that outlive the server.
class DelegateCalls : public std::enable_shared_from_this<DelegateCalls> {
 public:
  explicit DelegateCalls(std::shared_ptr<DelegateHandler> handler) : handler_(std::move(handler)) {}

  /// Returns `methods` with those of the Delegate service and with reflection for all of them.
  grpc::Methods AddTo(grpc::Methods methods) {
    const auto self = shared_from_this();
    methods.AddUnary(methods::kCall, [self](grpc::ServerCallPtr call, std::string bytes) {
      return RunCall(self, std::move(call), std::move(bytes));
    });
    methods.AddStream(methods::kStream, [self](grpc::ServerCallPtr call) { return RunStream(self, std::move(call)); });
    methods.AddStream(methods::kConnect,
                      [self](grpc::ServerCallPtr call) { return RunConnect(self, std::move(call)); });
    methods.AddStream(methods::kDescribe,
                      [self](grpc::ServerCallPtr call) { return RunDescribe(self, std::move(call)); });
    AddReflection(methods);
    return methods;
  }

  /// Ends the streams that have no end (watches and Describe), and those that are opened later.
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

  static Task<grpc::UnaryReply> RunCall(Self self, grpc::ServerCallPtr call, std::string bytes) {
    grpc::UnaryReply reply;
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
    if (request.method != "GET") {
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

  static Task<> RunStream(Self self, grpc::ServerCallPtr call) {
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
    const bool endless = request.info.verb == meta::Verb::kWatch;
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

  static Task<> RunConnect(Self self, grpc::ServerCallPtr call) {
    const std::optional<std::string> bytes = co_await call->Read();
    mesh::v1::ConnectFrame first;
    if (!bytes || !first.ParseFromString(*bytes) || !first.has_request()) {
      call->Finish({grpc::Code::kInvalidArgument, "the first frame must have the request"});
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

  static Task<> RunDescribe(Self self, grpc::ServerCallPtr call) {
    const auto feed = std::make_shared<DescriptionFeed>();
    if (!self->Remember(self->feeds_, feed)) feed->End();
    call->OnCancel([feed] { feed->End(); });
    const std::optional<std::string> bytes = co_await call->Read();
    mesh::v1::DescribeRequest request;
    const bool accepts_changes = bytes && request.ParseFromString(*bytes) && request.accepts_changes();
    const auto subscription = self->handler_->Describe([feed](Description description) {
      feed->Update([&](Description& newest) { newest = std::move(description); });
    });
    std::optional<Description> sent;
    for (;;) {
      std::optional<Description> description = co_await DescriptionFeed::Next(feed);
      if (!description) break;
      mesh::v1::Description proto = ToProto(*description, sent && accepts_changes ? &*sent : nullptr);
      if (const auto& own = shared_memory::Segment::Own()) proto.set_memory(own->Name());
      grpc::Message message = grpc::Pack(proto);
      std::size_t size = 0;
      for (const SharedBytes& piece : message) size += piece.size();
      if (!co_await call->Write(std::move(message))) break;
      const auto rest = std::chrono::microseconds(size * 1'000'000 / kDescribedPerSecond) +
                        kRestPerVersion * description->group_versions.size();
      sent = std::move(description);
      co_await DescriptionFeed::Rest(feed, rest);
    }
    self->Forget(self->feeds_, feed);
    call->Finish(kStopping);
  }

  template <class T>
  using Open = std::unordered_set<std::shared_ptr<T>>;

  /// Returns false if the server is stopping, in which case the call must end.
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

DelegateServer::DelegateServer(std::shared_ptr<DelegateCalls> calls, std::unique_ptr<grpc::Server> server)
    : calls_(std::move(calls)), server_(std::move(server)) {}
DelegateServer::~DelegateServer() { calls_->EndOpenStreams(); }

int DelegateServer::Port(std::size_t index) const { return server_->Port(index); }
void DelegateServer::SetServing(bool serving) { server_->SetServing(serving); }
void DelegateServer::Drain(std::chrono::milliseconds limit) {
  calls_->EndOpenStreams();
  server_->Drain(limit);
}

std::unique_ptr<DelegateServer> ServeDelegate(const std::vector<Listener>& listeners,
                                              std::shared_ptr<DelegateHandler> handler,
                                              std::vector<boost::asio::io_context*> workers, const Clock& clock,
                                              grpc::Methods more) {
  auto calls = std::make_shared<DelegateCalls>(std::move(handler));
  auto server = grpc::Serve(listeners, calls->AddTo(std::move(more)), std::move(workers), clock);
  return std::make_unique<DelegateServer>(std::move(calls), std::move(server));
}

}  // namespace apimesh::mesh
