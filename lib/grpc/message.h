#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/http2/stream.h"

namespace apimesh::grpc {

/// The bytes of one message, in pieces that are not concatenated before they are written to the socket.
using Message = std::vector<SharedBytes>;
using Metadata = http2::Headers;
/// The maximum size of a message that clients and servers of the mesh accept.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

/// The prefix that gRPC sends before a message of `size` bytes: the flag "not compressed", and the size.
http2::Prefix MessagePrefix(std::size_t size);

/// Splits the body of a stream into messages. A message that arrives in one piece is not copied.
class MessageReader {
 public:
  enum class Outcome {
    kIncomplete,  // all bytes are consumed; the message is incomplete
    kMessage,     // View() and Take() return a message; there may be more bytes
    kCompressed,  // the message is compressed, which is not supported
    kTooLarge,    // the message is larger than the limit
  };

  explicit MessageReader(std::size_t max_message_bytes) : max_message_bytes_(max_message_bytes) {}

  /// Consumes bytes from the front of `data`, at most up to the end of one message.
  Outcome Read(std::string_view& data);
  /// Reads messages from `data` as long as `wanted()`, and calls `on_message()` after each; View() and Take() then
  /// return it. Returns kIncomplete, or why the rest of the stream cannot be read.
  template <class Wanted, class OnMessage>
  Outcome ReadAll(std::string_view data, Wanted wanted, OnMessage on_message) {
    while (!data.empty() && wanted()) {
      const Outcome outcome = Read(data);
      if (outcome != Outcome::kMessage) return outcome;
      on_message();
    }
    return Outcome::kIncomplete;
  }
  /// The message. It is valid until the next Read(), and only as long as the data passed to the last Read().
  std::string_view View() const { return view_; }
  /// The message as an owned string.
  std::string Take();
  /// The size of the current message, as announced by its sender.
  std::size_t AnnouncedBytes() const { return size_; }
  std::size_t MaxMessageBytes() const { return max_message_bytes_; }
  void Reset();

 private:
  static constexpr std::size_t kPrefixBytes = 5;

  const std::size_t max_message_bytes_;
  char prefix_[kPrefixBytes] = {};
  std::size_t prefix_size_ = 0;
  bool in_message_ = false;  // its prefix is complete
  std::size_t size_ = 0;
  std::string partial_;  // of a message that arrives in several pieces
  bool joined_ = false;  // view_ refers to partial_
  std::string_view view_;
};

}  // namespace apimesh::grpc
