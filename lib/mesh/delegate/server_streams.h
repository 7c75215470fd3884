#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/grpc/server_call.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/shared_memory/segment.h"

namespace apimesh::mesh {

/// The server's end of Stream.
class StreamWriter final : public ResponseStream {
 public:
  /// `segment` is the segment that the reader has mapped, or nullptr. Pieces in it are shared with the reader instead
  /// of sent.
  StreamWriter(grpc::ServerCallPtr call, std::shared_ptr<shared_memory::Segment> segment);

  Task<bool> WriteHead(int code, Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  std::size_t PieceBytes() const override;
  Task<bool> WriteComplete(Response response) override;
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, ResumePosition position) override;
  void OnCancel(std::function<void()> callback) override;
  void Abort() override;

  /// Ends the call after the handler has finished. Waits until the reader no longer uses the memory shared with it.
  static Task<> End(std::shared_ptr<StreamWriter> self);
  /// Makes the handler stop as if its reader had gone away. May be called from any thread.
  void Interrupt();

 private:
  bool Cancelled();
  grpc::Message Chunk(std::vector<SharedBytes> pieces);
  bool HasLease();
  /// The number of bytes of `piece` that must be sent: 0 if the piece can be shared.
  std::size_t Travels(const SharedBytes& piece) const;

  const grpc::ServerCallPtr call_;
  const std::shared_ptr<shared_memory::Segment> segment_;
  std::unique_ptr<shared_memory::Segment::Lease> lease_;  // nullptr: nothing is shared yet
  bool complete_ = false;                                 // the response was sent as one complete chunk
  std::mutex mutex_;
  std::vector<std::function<void()>> cancel_;  // guarded by mutex_, as all below
  bool cancelled_ = false;
  bool aborted_ = false;
};

/// The server's end of Connect. Its destructor ends the call.
class ConnectEnd final : public ConnectStream {
 public:
  explicit ConnectEnd(grpc::ServerCallPtr call) : call_(std::move(call)) {}
  ~ConnectEnd() override { Close(); }

  Task<bool> Answer(Response head) override;
  Task<meta::Result<std::string>> Read() override;
  Task<bool> Write(std::string data) override;
  void Close() override;

 private:
  const grpc::ServerCallPtr call_;
  bool remote_closed_ = false;
};

}  // namespace apimesh::mesh
