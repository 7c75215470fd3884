#include "lib/base/log.h"
#include "lib/h2/typed_call.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/delegate.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/describe_loop.h"
#include "lib/rpc/methods.h"
#include "lib/rpc/neighbour_memory.h"

namespace apimesh::rpc {
namespace {

using mesh::v1::ConnectFrame;

/// The client's end of an upgraded connection.
class UpgradedStream final : public ByteStream {
 public:
  explicit UpgradedStream(h2::ClientCall call) : call_(std::move(call)) {}

  Task<meta::Result<std::string>> Read() override {
    auto frame = co_await h2::ReadAs<ConnectFrame>(call_);
    co_return frame ? std::move(*frame->mutable_data()) : std::string();
  }
  Task<bool> Write(std::string data) override {
    ConnectFrame frame;
    frame.set_data(std::move(data));
    return call_.Write(h2::Pack(frame));
  }
  void Close() override { call_.Cancel(); }

 private:
  h2::ClientCall call_;
};

/// What a server has lent to one stream.
class Borrowed {
 public:
  explicit Borrowed(std::shared_ptr<const segment::View> view) : view_(std::move(view)) {}

  const std::shared_ptr<const segment::View>& View() const { return view_; }
  void Note(const ParsedChunk& chunk) {
    if (chunk.lease == 0) return;
    slot_ = chunk.slot;
    lease_ = chunk.lease;
  }
  bool Intact() const { return lease_ == 0 || view_->Holds(slot_, lease_); }

 private:
  const std::shared_ptr<const segment::View> view_;
  std::size_t slot_ = 0;
  std::uint64_t lease_ = 0;
};

/// Ends a stream's guard when the stream ends: only then may the server have its memory back.
class GuardEnd {
 public:
  explicit GuardEnd(ResponseStream& stream) : stream_(stream) {}
  ~GuardEnd() { stream_.Guard(nullptr); }
  GuardEnd(const GuardEnd&) = delete;

 private:
  ResponseStream& stream_;
};

class GrpcDelegateClient final : public DelegateClient {
 public:
  GrpcDelegateClient(const Endpoint& endpoint, boost::asio::any_io_executor executor)
      : target_(endpoint.target), channel_(NewChannel(endpoint)), executor_(std::move(executor)) {}

  Task<Response> Call(Request&& request) override {
    h2::CallOptions options{.deadline = request.deadline, .cancel = request.cancel};
    return Answered(channel_->Unary(methods::kCall, Encode(std::move(request)), std::move(options)));
  }

  Task<> Stream(Request request, ResponseStream& out) override {
    h2::CallOptions options{.deadline = request.deadline};
    const auto borrowed = std::make_shared<Borrowed>(Neighbour());
    const bool can_borrow = borrowed->View() && out.Guard([borrowed] { return borrowed->Intact(); });
    if (can_borrow) request.headers.emplace_back(kMemoryHeader, borrowed->View()->Id());
    h2::Message message = Encode(std::move(request));
    h2::ClientCall call = co_await channel_->Open(methods::kStream, std::move(options));
    const GuardEnd guard_end(out);  // before the call ends
    co_await call.Write(std::move(message));
    call.WritesDone();
    out.OnCancel(call.Canceller());
    bool head_written = false;
    for (;;) {
      std::optional<std::string> bytes = co_await call.Read();
      if (!bytes) break;
      ParsedChunk chunk;
      if (!ParseChunk(std::move(*bytes), can_borrow ? borrowed->View() : nullptr, &chunk)) break;
      if (chunk.last) co_return;
      borrowed->Note(chunk);
      if (!head_written) {
        head_written = true;
        if (chunk.whole) {
          Response response;
          response.code = chunk.code;
          response.headers = std::move(chunk.headers);
          response.body = std::move(chunk.pieces);
          co_await out.WriteWhole(std::move(response));
          co_return;
        }
        if (!co_await out.WriteHead(chunk.code, std::move(chunk.headers))) co_return;
      }
      const bool placed = chunk.place.revision > 0;
      if (chunk.pieces.empty() && !placed) continue;
      Task<bool> written = placed ? out.WriteEvents(std::move(chunk.pieces), chunk.place) : out.Write(std::move(chunk.pieces));
      if (!co_await std::move(written)) co_return;
    }
    const h2::Status status = co_await call.Finish();
    if (head_written) {
      if (!status.ok()) out.Abort();
      co_return;
    }
    Response error = status.ok() ? Response::Error(meta::InternalError("the answer is empty")) : Failed(status);
    co_await out.WriteWhole(std::move(error));
  }

  Task<Connection> Connect(Request request) override {
    h2::CallOptions options{.deadline = request.deadline};
    ConnectFrame first;
    *first.mutable_request() = ToProto(std::move(request));
    h2::Message message = h2::Pack(first);
    h2::ClientCall call = co_await channel_->Open(methods::kConnect, std::move(options));
    Connection connection;
    // A failed write shows in the read that follows it.
    co_await call.Write(std::move(message));
    auto head = co_await h2::ReadAs<ConnectFrame>(call);
    if (!head) {
      const h2::Status status = co_await call.Finish();
      connection.head = status.ok() ? Response::Error(meta::InternalError("the answer is empty")) : Failed(status);
      co_return connection;
    }
    connection.head = FromProto(std::move(*head->mutable_response()));
    if (connection.head.code == 101) connection.stream = std::make_unique<UpgradedStream>(std::move(call));
    co_return connection;
  }

  std::shared_ptr<void> Describe(std::function<void(std::optional<Description>)> changed) override {
    const auto mapped = [changed = std::move(changed), neighbour = neighbour_, executor = executor_](std::optional<Description> description) {
      if (description) NeighbourMemory::Follow(neighbour, executor, description->memory);
      changed(std::move(description));
    };
    return DescribeLoop::Start(channel_, executor_, mapped);
  }

 private:
  Task<Response> Answered(Task<h2::UnaryResult> call) {
    h2::UnaryResult answer = co_await std::move(call);
    if (!answer.status.ok()) co_return Failed(answer.status);
    Response response;
    if (!ParseResponse(std::move(answer.message), &response)) {
      co_return Response::Error(meta::InternalError("the answer can't be read"));
    }
    co_return response;
  }
  std::shared_ptr<const segment::View> Neighbour() const { return neighbour_->View(); }
  Response Failed(const h2::Status& status) const {
    log::Debug("call to {} failed: {}", target_, status.message);
    return Response::Error(ToApiError(status));
  }

  const std::string target_;
  const std::shared_ptr<h2::Channel> channel_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<NeighbourMemory> neighbour_ = std::make_shared<NeighbourMemory>();
};

}  // namespace

std::unique_ptr<DelegateClient> NewDelegateClient(Endpoint endpoint, boost::asio::any_io_executor executor) {
  return std::make_unique<GrpcDelegateClient>(endpoint, std::move(executor));
}

}  // namespace apimesh::rpc
