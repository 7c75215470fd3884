#include "lib/base/log.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/channel.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/mesh/delegate/delegate_proto.h"
#include "lib/mesh/describe_loop.h"
#include "lib/mesh/methods.h"
#include "lib/mesh/peer_memory.h"

namespace apimesh::mesh {
namespace {

using mesh::v1::ConnectFrame;

/// The client's end of an upgraded connection.
class UpgradedStream final : public ByteStream {
 public:
  explicit UpgradedStream(grpc::ClientCall call) : call_(std::move(call)) {}

  Task<meta::Result<std::string>> Read() override {
    auto frame = co_await grpc::ReadAs<ConnectFrame>(call_);
    co_return frame ? std::move(*frame->mutable_data()) : std::string();
  }
  Task<bool> Write(std::string data) override {
    ConnectFrame frame;
    frame.set_data(std::move(data));
    return call_.Write(grpc::Pack(frame));
  }
  void Close() override { call_.Cancel(); }

 private:
  grpc::ClientCall call_;
};

class GrpcDelegateClient final : public DelegateClient {
 public:
  GrpcDelegateClient(std::string target, std::shared_ptr<grpc::Channel> channel, boost::asio::any_io_executor executor)
      : target_(std::move(target)), channel_(std::move(channel)), executor_(std::move(executor)) {}

  Task<Response> Call(Request&& request) override {
    grpc::CallOptions options{.deadline = request.deadline, .cancel = request.cancel};
    return Answered(channel_->Unary(methods::kCall, Encode(std::move(request)), std::move(options)));
  }

  Task<> Stream(Request request, ResponseStream& out) override {
    grpc::CallOptions options{.deadline = request.deadline};
    std::shared_ptr<const shared_memory::View> view;
    if (request.accepts_revocable_memory) view = PeerView();
    if (view) request.headers.emplace_back(kMemoryHeader, view->Id());
    grpc::Message message = Encode(std::move(request));
    grpc::ClientCall call = co_await channel_->Open(methods::kStream, std::move(options));
    co_await call.Write(std::move(message));
    call.WritesDone();
    out.OnCancel(call.Canceller());
    bool head_written = false;
    for (;;) {
      std::optional<std::string> bytes = co_await call.Read();
      if (!bytes) break;
      ParsedChunk chunk;
      if (!ParseChunk(std::move(*bytes), view, &chunk)) break;
      if (chunk.last) co_return;
      if (!head_written) {
        head_written = true;
        if (chunk.complete) {
          Response response;
          response.code = chunk.code;
          response.headers = std::move(chunk.headers);
          response.body = std::move(chunk.pieces);
          co_await out.WriteComplete(std::move(response));
          co_return;
        }
        if (!co_await out.WriteHead(chunk.code, std::move(chunk.headers))) co_return;
      }
      const bool has_position = chunk.position.revision > 0;
      if (chunk.pieces.empty() && !has_position) continue;
      Task<bool> written =
          has_position ? out.WriteEvents(std::move(chunk.pieces), chunk.position) : out.Write(std::move(chunk.pieces));
      if (!co_await std::move(written)) co_return;
    }
    const grpc::Status status = co_await call.Finish();
    if (head_written) {
      if (!status.ok()) out.Abort();
      co_return;
    }
    Response error = status.ok() ? Response::Error(meta::InternalError("the answer is empty")) : Failed(status);
    co_await out.WriteComplete(std::move(error));
  }

  Task<Connection> Connect(Request request) override {
    grpc::CallOptions options{.deadline = request.deadline};
    ConnectFrame first;
    *first.mutable_request() = ToProto(std::move(request));
    grpc::Message message = grpc::Pack(first);
    grpc::ClientCall call = co_await channel_->Open(methods::kConnect, std::move(options));
    Connection connection;
    // A failed write is reported by the read that follows it.
    co_await call.Write(std::move(message));
    auto head = co_await grpc::ReadAs<ConnectFrame>(call);
    if (!head) {
      const grpc::Status status = co_await call.Finish();
      connection.head = status.ok() ? Response::Error(meta::InternalError("the answer is empty")) : Failed(status);
      co_return connection;
    }
    connection.head = FromProto(std::move(*head->mutable_response()));
    if (connection.head.code == 101) connection.stream = std::make_unique<UpgradedStream>(std::move(call));
    co_return connection;
  }

  std::shared_ptr<void> Describe(std::function<void(std::optional<Description>)> changed) override {
    const auto mapped = [changed = std::move(changed), peer_memory = peer_memory_,
                         executor = executor_](std::optional<Description> description) {
      if (description) PeerMemory::Follow(peer_memory, executor, description->memory);
      changed(std::move(description));
    };
    return DescribeLoop::Start(channel_, executor_, mapped);
  }

 private:
  Task<Response> Answered(Task<grpc::UnaryResult> call) {
    grpc::UnaryResult answer = co_await std::move(call);
    if (!answer.status.ok()) co_return Failed(answer.status);
    Response response;
    if (!ParseResponse(std::move(answer.message), &response)) {
      co_return Response::Error(meta::InternalError("the answer can't be read"));
    }
    co_return response;
  }
  std::shared_ptr<const shared_memory::View> PeerView() const { return peer_memory_->View(); }
  Response Failed(const grpc::Status& status) const {
    log::Debug("call to {} failed: {}", target_, status.message);
    return Response::Error(ToApiError(status));
  }

  const std::string target_;
  const std::shared_ptr<grpc::Channel> channel_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<PeerMemory> peer_memory_ = std::make_shared<PeerMemory>();
};

}  // namespace

std::unique_ptr<DelegateClient> NewDelegateClient(Endpoint endpoint, boost::asio::any_io_executor executor,
                                                  const Clock& clock) {
  return std::make_unique<GrpcDelegateClient>(endpoint.target, NewChannel(endpoint, clock), std::move(executor));
}

std::unique_ptr<DelegateClient> NewDelegateClient(std::shared_ptr<grpc::Channel> channel, std::string name,
                                                  boost::asio::any_io_executor executor) {
  return std::make_unique<GrpcDelegateClient>(std::move(name), std::move(channel), std::move(executor));
}

}  // namespace apimesh::mesh
