#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/websocket/frame_writer.h"

namespace apimesh::websocket {

/// A part of a message, or a control frame.
struct Part {
  Opcode opcode = Opcode::kBinary;  // of a part of a message, kText or kBinary: the type of the message
  bool first = false;               // the message begins with this part
  bool last = false;                // the message, or the control frame, ends with this part
  std::string_view data;            // unmasked; valid until the next call of Next()
};

/// Splits the bytes of a client into parts. Its frames must be masked.
class FrameReader {
 public:
  /// Removes a part from the front of `input` and returns it. The data of a message is returned as far as it was
  /// received; a control frame is returned when it is complete. Returns nullopt if all of `input` was read and more is
  /// needed, or if the bytes are not valid; see Error().
  std::optional<Part> Next(std::string_view& input);
  /// Empty as long as the bytes are valid. After an error, the connection is closed with kProtocolError.
  std::string_view Error() const { return error_; }

 private:
  bool ReadHead(std::string_view& input);
  std::string_view CheckHead(bool masked, std::uint8_t reserved) const;
  bool IsControl() const { return static_cast<std::uint8_t>(opcode_) >= 8; }
  void AppendUnmasked(std::string_view& input);

  std::string_view error_;
  std::string head_;     // an incomplete head
  std::string payload_;  // of the part that was returned, or of an incomplete control frame
  bool in_frame_ = false;
  // The current frame, if in_frame_:
  Opcode opcode_ = Opcode::kBinary;
  bool final_ = false;
  std::uint64_t left_ = 0;  // bytes of its payload that were not returned, or not copied to payload_
  char mask_[4] = {};
  std::size_t mask_position_ = 0;
  // The current message:
  bool in_message_ = false;
  Opcode type_ = Opcode::kBinary;
  bool begun_ = false;  // a part of the message was returned
};

}  // namespace apimesh::websocket
