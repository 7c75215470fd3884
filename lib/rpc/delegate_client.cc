#include <atomic>

#include "lib/base/log.h"
#include "lib/rpc/delegate.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/describe_loop.h"
#include "lib/rpc/grpc_await.h"
#include "lib/rpc/grpc_channel.h"
#include "lib/rpc/grpc_streams.h"
#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace apimesh::rpc {
namespace {

using mesh::v1::Chunk;
using mesh::v1::ConnectFrame;
using mesh::v1::Delegate;
using FrameStream = BidiStream<ConnectFrame, ConnectFrame>;

/// The client's end of an upgraded connection.
class UpgradedStream final : public ByteStream {
 public:
  explicit UpgradedStream(FrameStream frames) : frames_(std::move(frames)) {}

  Task<meta::Result<std::string>> Read() override {
    auto frame = co_await frames_.Read();
    co_return frame ? std::move(*frame->mutable_data()) : std::string();
  }
  Task<bool> Write(std::string data) override {
    ConnectFrame frame;
    frame.set_data(std::move(data));
    return frames_.Write(std::move(frame));
  }
  void Close() override { frames_.Cancel(); }

 private:
  FrameStream frames_;
};

class GrpcDelegateClient final : public DelegateClient {
 public:
  explicit GrpcDelegateClient(const Endpoint& endpoint)
      : target_(endpoint.target), channel_(NewChannel(endpoint)), stub_(Delegate::NewStub(channel_)) {}

  Task<Response> Call(Request request) override {
    const SteadyTime deadline = request.deadline;
    auto answer = co_await Unary(stub_->async(), &Delegate::Stub::async::Call, ToProto(std::move(request)),
                                 {.deadline = deadline});
    if (!answer.status.ok()) co_return Failed(answer.status);
    co_return FromProto(std::move(answer.response));
  }

  Task<> Stream(Request request, ResponseStream& out) override {
    const CallOptions options{.deadline = request.deadline};
    auto chunks = std::make_shared<ServerStream<Chunk>>(stub_->async(), &Delegate::Stub::async::Stream,
                                                        ToProto(std::move(request)), options);
    out.OnCancel([weak = std::weak_ptr(chunks)] {
      if (auto live = weak.lock()) live->Cancel();
    });
    bool head_written = false;
    while (auto chunk = co_await chunks->Read()) {
      if (!head_written) {
        head_written = true;
        if (!co_await out.WriteHead(chunk->code(), FromProto(std::move(*chunk->mutable_headers())))) co_return;
      }
      if (chunk->data().empty()) continue;
      std::vector<SharedBytes> pieces;
      pieces.emplace_back(std::move(*chunk->mutable_data()));
      if (!co_await out.Write(std::move(pieces))) co_return;
    }
    const grpc::Status status = co_await chunks->Finish();
    if (head_written) {
      if (!status.ok()) out.Abort();
      co_return;
    }
    Response error = status.ok() ? Response::Error(meta::InternalError("the answer is empty")) : Failed(status);
    if (co_await out.WriteHead(error.code, error.headers)) co_await out.Write(std::move(error.body));
  }

  Task<Connection> Connect(Request request) override {
    const CallOptions options{.deadline = request.deadline};
    FrameStream frames(stub_->async(), &Delegate::Stub::async::Connect, options);
    ConnectFrame first;
    *first.mutable_request() = ToProto(std::move(request));
    Connection connection;
    // A failed write shows in the read that follows it.
    co_await frames.Write(std::move(first));
    auto head = co_await frames.Read();
    if (!head) {
      const grpc::Status status = co_await frames.Finish();
      connection.head = status.ok() ? Response::Error(meta::InternalError("the answer is empty")) : Failed(status);
      co_return connection;
    }
    connection.head = FromProto(std::move(*head->mutable_response()));
    if (connection.head.code == 101) connection.stream = std::make_unique<UpgradedStream>(std::move(frames));
    co_return connection;
  }

  std::shared_ptr<void> Describe(std::function<void(std::optional<Description>)> changed) override {
    return DescribeLoop::Start(channel_, std::move(changed));
  }

 private:
  Response Failed(const grpc::Status& status) const {
    log::Debug("call to {} failed: {}", target_, status.error_message());
    return Response::Error(ToApiError(status));
  }

  const std::string target_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Delegate::Stub> stub_;
};

}  // namespace

std::unique_ptr<DelegateClient> NewDelegateClient(Endpoint endpoint) {
  return std::make_unique<GrpcDelegateClient>(endpoint);
}

}  // namespace apimesh::rpc
