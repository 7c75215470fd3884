#include "lib/http2/stream.h"

#include <nghttp2/nghttp2.h>

#include "lib/http2/session.h"

namespace apimesh::http2 {
namespace {

/// A stream that this side resets because of an error of the peer costs as much as one that the peer resets, which
/// nghttp2 limits. It counts as this many frames without content.
constexpr int kFramesPerFault = 50;

bool CountFault(FrameLimit& limit) {
  bool allowed = true;
  for (int i = 0; i < kFramesPerFault; ++i) allowed = limit.CountFrame(NGHTTP2_RST_STREAM, 0, 0);
  return allowed;
}

}  // namespace

bool Stream::Send(std::span<const SharedBytes> pieces, const Prefix& prefix) {
  if (session_ == nullptr || ended_) return false;
  bool first = prefix.size > 0;
  queued_ += prefix.size;
  for (const SharedBytes& piece : pieces) {
    if (piece.empty()) continue;
    queued_ += piece.size();
    queue_.push_back({piece, std::exchange(first, false) ? prefix : Prefix()});
  }
  if (first) queue_.push_back({SharedBytes(), prefix});
  if (queued_ > session_->options_.limits.high_watermark) above_high_watermark_ = true;
  nghttp2_session_resume_data(session_->session_, id_);
  session_->WantsWrite();
  return true;
}

void Stream::End(std::shared_ptr<const Headers> trailers) {
  if (session_ == nullptr || ended_) return;
  ended_ = true;
  trailers_ = std::move(trailers);
  nghttp2_session_resume_data(session_->session_, id_);
  session_->WantsWrite();
}

void Stream::Reset(std::uint32_t error_code) {
  if (session_ == nullptr) return;
  if (error_code == NGHTTP2_PROTOCOL_ERROR && !reset_ && !CountFault(session_->frame_limit_)) {
    session_->Terminate();
    return;
  }
  reset_ = true;
  nghttp2_submit_rst_stream(session_->session_, NGHTTP2_FLAG_NONE, id_, error_code);
  session_->WantsWrite();
}

void Stream::PrepareToReopen() {
  id_ = 0;
  withheld_ = 0;
  reset_ = holding_ = above_high_watermark_ = ended_ = false;
  queue_.clear();
  front_offset_ = queued_ = 0;
  trailers_.reset();
}

bool Stream::LocalEndSent() const {
  return session_ == nullptr || nghttp2_session_get_stream_local_close(session_->session_, id_) == 1;
}

void Stream::GrowWindow(std::uint32_t bytes) {
  if (session_ == nullptr) return;
  nghttp2_session_set_local_window_size(session_->session_, NGHTTP2_FLAG_NONE, id_, static_cast<std::int32_t>(bytes));
  session_->WantsWrite();
}

void Stream::ReleaseInput() {
  holding_ = false;
  const std::size_t size = std::exchange(withheld_, 0);
  if (session_ == nullptr || size == 0) return;
  nghttp2_session_consume_stream(session_->session_, id_, size);
  session_->WantsWrite();
}

}  // namespace apimesh::http2
