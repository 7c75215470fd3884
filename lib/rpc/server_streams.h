#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/rpc/delegate.h"
#include "lib/rpc/grpc_await.h"
#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::rpc {

/// The server's end of one Stream call. `done` is the last thing that happens to it: after Finish(), which is after the
/// handler has returned. So the handler may keep a plain reference.
class StreamWriter final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public ResponseStream {
 public:
  explicit StreamWriter(std::function<void(StreamWriter*)> done) : done_(std::move(done)) {}

  Task<bool> WriteHead(int code, Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  void OnCancel(std::function<void()> callback) override;
  void Abort() override;

  /// Once the handler has returned.
  void End();
  /// Tells the handler to stop although the reader is still there; what it has written ends cleanly.
  void Interrupt();

 private:
  Task<bool> Send(grpc::ByteBuffer message);
  void OnWriteDone(bool ok) override;
  void OnCancel() override { Interrupt(); }
  void OnDone() override { done_(this); }

  const std::function<void(StreamWriter*)> done_;
  grpc::ByteBuffer message_;  // being written
  std::mutex mutex_;
  std::optional<Waiter<bool>> waiter_;       // guarded by mutex_
  std::vector<std::function<void()>> cancel_;  // guarded by mutex_
  bool cancelled_ = false;                   // guarded by mutex_
  bool aborted_ = false;                     // guarded by mutex_
};

/// The server's end of one Connect call. Ends by itself after the handler's stream is closed or destroyed.
class ConnectReactor final : public grpc::ServerBidiReactor<mesh::v1::ConnectFrame, mesh::v1::ConnectFrame> {
 public:
  using Start = std::function<void(Request request, std::unique_ptr<ConnectStream> stream)>;
  /// `start` runs when the first frame, with the request, is there.
  static ConnectReactor* New(SteadyTime deadline, Start start);

 private:
  class Stream;
  ConnectReactor(SteadyTime deadline, Start start);

  Task<bool> Write(mesh::v1::ConnectFrame frame);
  Task<meta::Result<std::string>> Read();
  void Close();  // no more frames from us
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void FinishOnce(grpc::Status status);

  const SteadyTime deadline_;
  Start start_;
  mesh::v1::ConnectFrame incoming_, outgoing_;
  std::shared_ptr<ConnectReactor> self_;  // until OnDone
  std::mutex mutex_;
  std::optional<Waiter<meta::Result<std::string>>> reader_;  // guarded by mutex_, as all below
  std::optional<Waiter<bool>> writer_;
  bool read_ended_ = false;
  bool finished_ = false;
};

/// The server's end of one Describe call: writes the newest description; those that come faster than the client reads
/// replace each other. `done` is the last thing that happens to it.
class DescribeReactor final : public grpc::ServerWriteReactor<mesh::v1::Description> {
 public:
  static std::shared_ptr<DescribeReactor> New(DelegateHandler& handler, std::function<void(DescribeReactor*)> done);
  /// Ends the call; harmless if it has ended.
  void End(const grpc::Status& status);

 private:
  void Changed(Description description);
  void OnWriteDone(bool ok) override;
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override { done_(this); }

  std::function<void(DescribeReactor*)> done_;
  mesh::v1::Description outgoing_;
  std::mutex mutex_;
  std::shared_ptr<void> subscription_;   // guarded by mutex_, as all below
  std::optional<Description> next_;
  bool writing_ = false;
  bool finished_ = false;
};

}  // namespace apimesh::rpc
