#include "lib/http/http2/calls.h"

#include <vector>

#include "lib/http/http2/call.h"

namespace apimesh::http {
namespace {

constexpr std::uint32_t kEarlyBodyBytes = 16 << 10;     // of a body, before its handler reads it
constexpr std::size_t kSmallBodyBytes = 64 << 10;       // of all small bodies of a connection
constexpr std::size_t kUnreadResponseBytes = 16 << 20;  // of all responses of a connection
constexpr std::chrono::seconds kStallLimit{5};          // with unread responses, once they use that much

}  // namespace

bool Http2Calls::HoldHeads(std::size_t bytes) {
  shared_->head_bytes += bytes - head_bytes_;
  head_bytes_ = bytes;
  return shared_->head_bytes <= shared_->limits.unfinished_head_bytes;
}

bool Http2Calls::TakeSmallBody(std::size_t bytes) {
  if (small_body_bytes_ + bytes > kSmallBodyBytes) return false;
  small_body_bytes_ += bytes;
  return true;
}

bool Http2Calls::Check(SteadyTime now) {
  std::vector<std::shared_ptr<Http2Call>> calls;  // keeps them alive while some are reset
  calls.reserve(calls_.size());
  std::size_t unread = 0;
  for (Http2Call* call : calls_) {
    calls.push_back(call->Self());
    unread += call->Unread();
  }
  for (const auto& call : calls) {
    if (!call->CheckHead(now)) return false;
    const bool crowded = unread > kUnreadResponseBytes;
    const auto stall_limit = crowded ? std::chrono::milliseconds(kStallLimit) : GetLimits().idle_timeout;
    const std::size_t queued = call->Unread();
    if (!call->CheckProgress(now, stall_limit)) unread -= queued;
  }
  return true;
}

http2::Limits ClientHttp2Limits(const Limits& limits) {
  http2::Limits made;
  made.stream_window = kEarlyBodyBytes;
  if (limits.http2_from_proxy) return made;
  made.concurrent_streams = limits.http2_streams;
  // A client that sends a head in frames of 16 KiB, the smallest limit of HTTP/2, needs this many for the largest one.
  made.continuation_frames = limits.header_bytes / (16 << 10) + 8;
  made.reset_burst = 2'000;
  made.resets_per_second = 200;
  made.empty_frame_burst = 10'000;
  made.empty_frame_interval = std::chrono::microseconds(100);
  made.queued_frames = 10'000;
  made.high_watermark = 128 << 10;
  made.low_watermark = 32 << 10;
  return made;
}

}  // namespace apimesh::http
