#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/spdy/frame_writer.h"
#include "lib/spdy/header_block.h"

namespace apimesh::spdy {

/// A control frame, or a part of a data frame.
struct Frame {
  std::optional<Type> control;  // nullopt: data
  bool fin = false;             // nothing more follows in this stream
  std::uint32_t stream = 0;     // of a PING, its id; of a GOAWAY, the last stream that was accepted
  std::uint32_t status = 0;     // of RST_STREAM and GOAWAY
  Headers headers;              // of SYN_STREAM, SYN_REPLY and HEADERS
  std::string_view data;        // of a data frame; valid until the next call of Next()
};

/// Splits the bytes of a peer into frames.
class FrameReader {
 public:
  explicit FrameReader(const Limits& limits) : limits_(limits), headers_(limits) {}

  /// Removes a frame from the front of `input` and returns it. Data is returned as far as it was received. Returns
  /// nullopt if all of `input` was read and more is needed, or if the bytes are not valid; see Error(). Control frames
  /// of unknown types, SETTINGS and WINDOW_UPDATE are skipped.
  std::optional<Frame> Next(std::string_view& input);
  /// Empty as long as the bytes are valid SPDY/3.1.
  const std::string& Error() const { return error_; }

 private:
  bool ReadHead(std::string_view& input);
  std::optional<Frame> TakeData(std::string_view& input);
  std::optional<Frame> ParseControl(std::string_view payload);
  bool ParseHeaders(std::string_view block, Frame& frame);

  const Limits limits_;
  HeaderDecompressor headers_;
  std::string error_;
  std::string buffer_;  // an incomplete head, or an incomplete control frame without its head
  bool in_frame_ = false;
  // The current frame, if in_frame_:
  bool is_control_ = false;
  std::uint16_t type_ = 0;
  std::uint8_t flags_ = 0;
  std::uint32_t stream_ = 0;
  std::size_t left_ = 0;  // bytes of its payload that were not returned, or not copied to buffer_
};

}  // namespace apimesh::spdy
