#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/base/fifo.h"
#include "lib/http2/headers.h"

namespace apimesh::http2 {

class Session;

/// A few bytes that Stream::Send() copies before the pieces, such as the length of a message.
struct Prefix {
  std::array<char, 7> bytes{};
  std::uint8_t size = 0;

  std::string_view View() const { return {bytes.data(), size}; }
};

/// One request and its response on a session, seen from the client or the server. A derived class receives the events
/// of the stream. It must be used only on the session's thread. It may outlive its stream and its session; sending then
/// has no effect.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  virtual ~Stream() = default;

  /// Queues bytes of the body; the pieces are not copied. Returns false if the stream is closed, or this side has ended
  /// it.
  bool Send(std::span<const SharedBytes> pieces, const Prefix& prefix = {});
  /// Ends this side of the stream after the queued bytes. A server may send trailers.
  void End(std::shared_ptr<const Headers> trailers = nullptr);
  /// Ends the stream in both directions now. OnClosed() follows; input received until then is ignored.
  void Reset(std::uint32_t error_code);
  /// True from the moment when more than Limits::high_watermark bytes are queued until fewer than Limits::low_watermark
  /// are left, which OnBelowLowWatermark() reports.
  bool AboveHighWatermark() const { return above_high_watermark_; }
  /// After this call, the peer may send no more than the stream's window, until ReleaseInput() is called.
  void HoldInput() { holding_ = true; }
  /// Reports that all received data is processed, so that the peer may continue to send.
  void ReleaseInput();
  bool IsOpen() const { return session_ != nullptr; }
  /// The bytes of Send() that are not part of the session's output yet.
  std::size_t QueuedBytes() const { return queued_; }
  /// Whether the end of this side is part of the session's output.
  bool LocalEndSent() const;
  /// From now on, the peer may send `bytes` before this side has consumed them, instead of Limits::stream_window.
  void GrowWindow(std::uint32_t bytes);

 protected:
  virtual void OnHeader(std::string_view name, std::string_view value) = 0;
  /// The headers (the first time) or the trailers are complete. `last`: OnRemoteEnd() follows.
  virtual void OnHeadersDone(bool /*last*/) {}
  /// Bytes of the body, valid only during the call. The peer may send as many more, unless the input is held.
  virtual void OnData(std::string_view data) = 0;
  /// The peer has ended its side.
  virtual void OnRemoteEnd() = 0;
  /// The last event. `error_code` is an HTTP/2 error code; 0 if both sides had ended. REFUSED_STREAM means that the
  /// peer has certainly not processed the request.
  virtual void OnClosed(std::uint32_t error_code) = 0;
  /// AboveHighWatermark() has become false.
  virtual void OnBelowLowWatermark() {}

  /// May be called after OnClosed(): resets the stream to its initial state, so that it can be opened on another
  /// session.
  void PrepareToReopen();

  Session* session_ = nullptr;  // set while the stream is open

 private:
  friend class Session;

  struct Queued {
    SharedBytes bytes;
    Prefix prefix;

    std::size_t size() const { return prefix.size + bytes.size(); }
  };

  std::int32_t id_ = 0;
  bool reset_ = false;
  // Received bytes that still count against the stream's window.
  std::size_t withheld_ = 0;
  bool holding_ = false;
  // Bytes to send.
  bool above_high_watermark_ = false;
  bool ended_ = false;
  Fifo<Queued> queue_;
  std::size_t front_offset_ = 0;
  std::size_t queued_ = 0;
  std::shared_ptr<const Headers> trailers_;
};

}  // namespace apimesh::http2
