#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/h2/server_call.h"
#include "lib/rpc/delegate.h"
#include "lib/segment/segment.h"

namespace apimesh::rpc {

/// The server's end of Stream.
class StreamWriter final : public ResponseStream {
 public:
  /// `segment`: what the reader has mapped, if it has; pieces in it are lent to the reader instead of sent.
  StreamWriter(h2::ServerCallPtr call, std::shared_ptr<segment::Segment> segment);

  Task<bool> WriteHead(int code, Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  std::size_t PieceBytes() const override;
  Task<bool> WriteWhole(Response response) override;
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, WatchPlace place) override;
  void OnCancel(std::function<void()> callback) override;
  void Abort() override;

  /// The handler is done: ends the call. Waits for a reader that still holds what it was lent.
  static Task<> End(std::shared_ptr<StreamWriter> self);
  /// Lets the handler believe that its reader is gone. From any thread.
  void Interrupt();

 private:
  bool Cancelled();
  h2::Message Chunk(std::vector<SharedBytes> pieces);
  bool HasLease();
  /// What of it is sent; the rest is lent.
  std::size_t Travels(const SharedBytes& piece) const;

  const h2::ServerCallPtr call_;
  const std::shared_ptr<segment::Segment> segment_;
  std::unique_ptr<segment::Segment::Lease> lease_;  // nullptr: nothing lent yet
  bool whole_ = false;                              // the reader knows that nothing more comes
  std::mutex mutex_;
  std::vector<std::function<void()>> cancel_;  // guarded by mutex_, as all below
  bool cancelled_ = false;
  bool aborted_ = false;
};

/// The server's end of Connect. The call ends with it.
class ConnectEnd final : public ConnectStream {
 public:
  explicit ConnectEnd(h2::ServerCallPtr call) : call_(std::move(call)) {}
  ~ConnectEnd() override { Close(); }

  Task<bool> Answer(Response head) override;
  Task<meta::Result<std::string>> Read() override;
  Task<bool> Write(std::string data) override;
  void Close() override;

 private:
  const h2::ServerCallPtr call_;
  bool remote_closed_ = false;
};

}  // namespace apimesh::rpc
