#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/spdy/frame_reader.h"

namespace apimesh::spdy {

/// What happened on the connection.
struct Event {
  enum class Kind {
    kOpened,  // the server accepted the stream
    kData,    // the server sent `data`
    kEnded,   // the server sends nothing more in the stream; if `reset`, it also reads nothing more
    kPong,    // the server answered Ping()
    kGoAway   // the server ends the connection
  };
  Kind kind;
  std::uint32_t stream = 0;
  std::string_view data;  // valid until the next call of Next()
  bool reset = false;
};

/// The streams that a client opens on a connection. Not thread-safe. All methods that send append to the output, which
/// the caller writes to the connection in this order.
class ClientSession {
 public:
  explicit ClientSession(const Limits& limits) : limits_(limits), reader_(limits) {}

  /// Returns the id of the new stream. It can be used immediately; the event kOpened or kEnded follows.
  std::uint32_t Open(const Headers& headers);
  /// Sends data. It is dropped if this side has ended the stream, or the server has reset it.
  void Send(std::uint32_t stream, std::string_view data);
  /// Sends nothing more in the stream.
  void End(std::uint32_t stream);
  /// Ends all streams and the connection.
  void Close();
  /// Asks the server for an answer, unless it still owes one.
  void Ping();

  /// Reads from the front of `input`. Returns nullopt if all of it was read, or if the session has failed.
  std::optional<Event> Next(std::string_view& input);
  /// Why the session failed: the server broke the protocol or exceeded a limit. Empty if it did not.
  const std::string& Error() const { return error_.empty() ? reader_.Error() : error_; }

  bool HasOutput() const { return !output_.empty(); }
  std::string TakeOutput();

 private:
  struct Stream {
    bool opened = false;
    bool sends = true;     // this side may still send
    bool receives = true;  // the server may still send
  };
  std::optional<Event> OnStreamFrame(const Frame& frame);
  void OnPing(std::uint32_t id, std::optional<Event>& event);
  /// Counts `size` bytes of output that the server provoked.
  void CountReply(std::size_t size);

  const Limits limits_;
  FrameReader reader_;
  HeaderCompressor compressor_;
  std::map<std::uint32_t, Stream> streams_;  // an element is kept until the end, because there are only a few
  std::optional<Event> next_;                // the second event of a frame that causes two
  std::uint32_t next_stream_ = 1, next_ping_ = 1;
  bool ping_pending_ = false;
  std::string output_;
  std::size_t replies_ = 0;  // bytes of replies in output_
  std::string error_;
};

}  // namespace apimesh::spdy
