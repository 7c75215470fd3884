#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/http2/frame_limit.h"
#include "lib/http2/headers.h"
#include "lib/http2/limits.h"
#include "lib/http2/output_queue.h"
#include "lib/http2/stream.h"

struct nghttp2_session;

/// HTTP/2 sessions without I/O, on nghttp2: the owner passes in the bytes that it reads from the socket and writes the
/// bytes that the session produces. lib/http drives sessions with Asio, the store with its own epoll loop.
namespace apimesh::http2 {

struct SessionOptions {
  const Clock& clock;
  bool server = false;
  /// Server: creates the stream of a new request. nullptr: the session fails.
  std::function<std::shared_ptr<Stream>()> accept;
  /// Called when there is output after Output() was empty.
  std::function<void()> wants_write;
  Limits limits;
};

/// One HTTP/2 connection. It is used on one thread.
class Session {
 public:
  /// Output() then contains the SETTINGS frame; `wants_write` is not called for it.
  explicit Session(SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Processes bytes that were read. The owner must call Output() afterwards; `wants_write` is not called for output
  /// that is queued meanwhile. Returns false if the connection must be closed; Error() is the reason.
  bool Receive(std::string_view bytes);
  /// The next bytes to write, in pieces; empty if there are none. It stays the same until all of it is Written(). The
  /// owner must call it until it is empty or the socket is full.
  std::span<const std::string_view> Output();
  /// Reports that the socket has accepted the first `size` bytes of Output().
  void Written(std::size_t size) { output_.Written(size); }
  /// The reason why the session failed; empty if it has not failed.
  const std::string& Error() const { return error_; }

  /// Client: begins a request. Returns false if this connection accepts no more requests.
  bool Open(const std::shared_ptr<Stream>& stream, const HeaderViews& headers);
  /// Server: sends the headers of the response. `last`: the response has no body and no trailers.
  void Respond(Stream& stream, const Headers& headers, bool last);
  /// Server: sends an interim response without headers, for example 100, before the response.
  void Inform(Stream& stream, int code);
  /// Sends a PING to check that the peer is alive.
  void Ping();
  /// Accepts no new requests; active ones may finish. New requests of a client are refused.
  void GoAway();
  /// Whether everything is written and neither side has more to send, so that the connection can be closed.
  bool Finished() const;
  /// Whether so many frames wait for the peer that the connection should be closed if the socket is full.
  bool TooManyQueuedFrames() const;
  /// Closes all streams after the connection has ended. Streams that were opened but never part of Output() are closed
  /// as refused. Streams may call it in any of their callbacks.
  void Terminate();

  bool TakesRequests() const { return !terminated_ && !going_away_; }
  bool HasStreams() const { return !streams_.empty(); }
  std::vector<std::shared_ptr<Stream>> Streams() const;

 private:
  friend class Stream;
  struct Callbacks;

  void WantsWrite() {
    if (write_requested_) return;
    write_requested_ = true;
    if (options_.wants_write) options_.wants_write();
  }
  void Gather();
  void Adopt(std::int32_t id, const std::shared_ptr<Stream>& stream);
  void Forget(std::int32_t id, std::uint32_t error_code);
  Stream* Find(std::int32_t id) const;

  const SessionOptions options_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, std::shared_ptr<Stream>> streams_;
  std::vector<std::int32_t> unsent_;  // opened, but never part of Output()
  FrameLimit frame_limit_;
  OutputQueue output_;
  std::vector<std::shared_ptr<Stream>> drained_;  // streams that get OnBelowLowWatermark()
  std::string error_;
  bool write_requested_ = true;
  bool going_away_ = false;
  bool terminated_ = false;
};

}  // namespace apimesh::http2
