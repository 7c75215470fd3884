#include "lib/h2/stream.h"

#include <nghttp2/nghttp2.h>

#include "lib/h2/session.h"

namespace apimesh::h2 {
namespace {

constexpr std::size_t kPrefixBytes = 5;  // of a message: compressed or not, and its size

std::array<char, kPrefixBytes> Prefix(std::size_t size) {
  std::array<char, kPrefixBytes> prefix{};
  for (int i = 0; i < 4; ++i) prefix[1 + i] = static_cast<char>(size >> (24 - 8 * i));
  return prefix;
}

}  // namespace

bool Stream::Send(const Message& message) {
  if (session_ == nullptr || ended_) return false;
  std::size_t size = 0;
  for (const SharedBytes& piece : message) size += piece.size();
  bool first = framing_ == Framing::kGrpc;
  queued_ += size + (first ? kPrefixBytes : 0);
  for (const SharedBytes& piece : message) {
    if (!piece.empty()) queue_.push_back({piece, first ? Prefix(size) : std::array<char, kPrefixBytes>{}, std::exchange(first, false)});
  }
  if (first) queue_.push_back({SharedBytes(), Prefix(size), true});
  crowded_ = Crowded();
  nghttp2_session_resume_data(session_->session_, id_);
  session_->FlushSoon();
  return true;
}

void Stream::End(Metadata trailers) {
  if (session_ == nullptr || ended_) return;
  ended_ = true;
  trailers_ = std::move(trailers);
  nghttp2_session_resume_data(session_->session_, id_);
  session_->FlushSoon();
}

void Stream::Reset(std::uint32_t error_code) {
  if (session_ == nullptr) return;
  nghttp2_submit_rst_stream(session_->session_, NGHTTP2_FLAG_NONE, id_, error_code);
  session_->FlushSoon();
}

void Stream::BeginAnew() {
  id_ = 0;
  prefix_.clear();
  incoming_.clear();
  missing_ = withheld_ = 0;
  in_message_ = holding_ = false;
  queue_.clear();
  front_offset_ = queued_ = 0;
  crowded_ = ended_ = false;
  trailers_.clear();
}

void Stream::ReleaseInput() {
  holding_ = false;
  const std::size_t size = std::exchange(withheld_, 0);
  if (session_ == nullptr || size == 0) return;
  nghttp2_session_consume_stream(session_->session_, id_, size);
  session_->FlushSoon();
}

void Stream::Receive(std::string_view data) {
  // A message under way must go on whatever its size; beyond it, the sender waits for the receiver.
  const std::size_t size = data.size();
  if (framing_ == Framing::kGrpc) {
    ReceiveMessages(data);
  } else if (!OnMessage(std::string(data))) {
    holding_ = true;
  }
  if (session_ == nullptr) return;
  if (holding_) {
    withheld_ += size;
  } else {
    nghttp2_session_consume_stream(session_->session_, id_, size);
  }
}

void Stream::ReceiveMessages(std::string_view data) {
  while (!data.empty() && session_ != nullptr) {
    if (!in_message_) {
      const std::size_t part = std::min(kPrefixBytes - prefix_.size(), data.size());
      prefix_.append(data.substr(0, part));
      data.remove_prefix(part);
      if (prefix_.size() < kPrefixBytes) break;
      const auto* head = reinterpret_cast<const unsigned char*>(prefix_.data());
      missing_ = std::size_t{head[1]} << 24 | std::size_t{head[2]} << 16 | std::size_t{head[3]} << 8 | head[4];
      const bool compressed = head[0] != 0;
      prefix_.clear();
      if (compressed || missing_ > session_->options_.max_message_bytes) {
        Reset(NGHTTP2_ENHANCE_YOUR_CALM);
        return;
      }
      in_message_ = true;
      // Memory is not promised for what has not come: a size is only a claim.
      incoming_.reserve(std::min<std::size_t>(missing_, 1 << 20));
    }
    const std::size_t part = std::min(missing_, data.size());
    incoming_.append(data.substr(0, part));
    data.remove_prefix(part);
    missing_ -= part;
    if (missing_ > 0) break;
    in_message_ = false;
    std::string message;
    message.swap(incoming_);
    if (!OnMessage(std::move(message))) holding_ = true;
  }
}

}  // namespace apimesh::h2
