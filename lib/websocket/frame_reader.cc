#include "lib/websocket/frame_reader.h"

#include <algorithm>

namespace apimesh::websocket {
namespace {

constexpr std::uint64_t kMaxControlBytes = 125;
constexpr std::size_t kMaskBytes = 4;

std::size_t LengthBytes(std::uint8_t second) {
  const int length = second & 0x7f;
  return length == 126 ? 2 : length == 127 ? 8 : 0;
}

bool IsKnown(Opcode opcode) {
  switch (opcode) {
    case Opcode::kContinuation:
    case Opcode::kText:
    case Opcode::kBinary:
    case Opcode::kClose:
    case Opcode::kPing:
    case Opcode::kPong: return true;
  }
  return false;
}

}  // namespace

std::optional<Part> FrameReader::Next(std::string_view& input) {
  if (!in_frame_ || !IsControl()) payload_.clear();
  for (;;) {
    if (!error_.empty() || (!in_frame_ && !ReadHead(input))) return std::nullopt;
    if (IsControl()) {
      AppendUnmasked(input);
      if (left_ > 0) return std::nullopt;
      in_frame_ = false;
      return Part{opcode_, true, true, payload_};
    }
    if (left_ > 0 && input.empty()) return std::nullopt;
    AppendUnmasked(input);
    in_frame_ = left_ > 0;
    const bool last = !in_frame_ && final_;
    if (payload_.empty() && !last) continue;  // an empty frame within a message
    const Part part{type_, !std::exchange(begun_, true), last, payload_};
    if (last) in_message_ = false;
    return part;
  }
}

bool FrameReader::ReadHead(std::string_view& input) {
  const auto size = [this] {
    return head_.size() < 2 ? 2 : 2 + LengthBytes(static_cast<std::uint8_t>(head_[1])) + kMaskBytes;
  };
  while (head_.size() < size()) {
    if (input.empty()) return false;
    head_ += input.front();
    input.remove_prefix(1);
  }
  const auto byte = [this](std::size_t position) { return static_cast<std::uint8_t>(head_[position]); };
  final_ = (byte(0) & 0x80) != 0;
  opcode_ = static_cast<Opcode>(byte(0) & 0x0f);
  const std::size_t length_bytes = LengthBytes(byte(1));
  left_ = length_bytes == 0 ? byte(1) & 0x7f : 0;
  for (std::size_t i = 0; i < length_bytes; ++i) left_ = left_ << 8 | byte(2 + i);
  error_ = CheckHead((byte(1) & 0x80) != 0, byte(0) & 0x70);
  std::copy_n(head_.end() - kMaskBytes, kMaskBytes, mask_);
  mask_position_ = 0;
  head_.clear();
  if (!error_.empty()) return false;
  if (opcode_ == Opcode::kText || opcode_ == Opcode::kBinary) {
    in_message_ = true;
    begun_ = false;
    type_ = opcode_;
  }
  in_frame_ = true;
  return true;
}

std::string_view FrameReader::CheckHead(bool masked, std::uint8_t reserved) const {
  if (!masked) return "a frame of the client is not masked";
  if (reserved != 0) return "a frame uses an extension that was not negotiated";
  if (!IsKnown(opcode_)) return "the type of a frame is unknown";
  if (left_ >> 63 != 0) return "the length of a frame is not valid";
  if (IsControl()) return final_ && left_ <= kMaxControlBytes ? "" : "a control frame is fragmented or too large";
  if ((opcode_ == Opcode::kContinuation) != in_message_) return "a frame does not belong to a message";
  return "";
}

void FrameReader::AppendUnmasked(std::string_view& input) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  for (const char c : input.substr(0, size)) payload_ += static_cast<char>(c ^ mask_[mask_position_++ % kMaskBytes]);
  input.remove_prefix(size);
  left_ -= size;
}

}  // namespace apimesh::websocket
