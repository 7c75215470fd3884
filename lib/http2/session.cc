#include "lib/http2/session.h"

#include <algorithm>

#include <nghttp2/nghttp2.h>

#include "lib/http2/session_callbacks.h"

namespace apimesh::http2 {
namespace {

constexpr std::size_t kGatherBytes = 512 << 10;  // the approximate number of bytes written at a time

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)), frame_limit_(options_.limits, options_.clock) {
  session_ = Callbacks::NewSession(*this);
  const Limits& limits = options_.limits;
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, limits.frame_bytes},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},  // clients only
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings) - (options_.server ? 1 : 0));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, limits.connection_window);
}

Session::~Session() {
  for (auto& [id, stream] : streams_) stream->session_ = nullptr;
  nghttp2_session_del(session_);
}

bool Session::Receive(std::string_view bytes) {
  write_requested_ = true;
  const ssize_t used =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) error_ = nghttp2_strerror(static_cast<int>(used));
  return used >= 0;
}

std::span<const std::string_view> Session::Output() {
  if (output_.empty() && !terminated_) Gather();
  const auto pieces = output_.Pieces();
  if (pieces.empty()) write_requested_ = false;
  return pieces;
}

void Session::Gather() {
  while (output_.size() < kGatherBytes) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) {
      error_ = nghttp2_strerror(static_cast<int>(size));
      break;
    }
    if (size == 0) break;
    output_.Copy({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
  }
  if (!output_.empty()) unsent_.clear();  // the peer may get some of it even if writing fails
  if (drained_.empty()) return;
  const auto drained = std::exchange(drained_, {});
  for (const auto& stream : drained) {
    if (stream->IsOpen()) stream->OnBelowLowWatermark();
  }
}

bool Session::Open(const std::shared_ptr<Stream>& stream, const HeaderViews& headers) {
  if (!TakesRequests()) return false;
  const nghttp2_data_provider provider = Callbacks::BodyOf(*stream);
  const HeaderFields head(headers);
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, head.data(), head.size(), &provider, nullptr);
  if (id < 0) {  // all stream ids of this connection are used
    GoAway();
    return false;
  }
  Adopt(id, stream);
  unsent_.push_back(id);
  WantsWrite();
  return true;
}

void Session::Respond(Stream& stream, const Headers& headers, bool last) {
  const nghttp2_data_provider provider = Callbacks::BodyOf(stream);
  const HeaderFields head(headers);
  nghttp2_submit_response(session_, stream.id_, head.data(), head.size(), last ? nullptr : &provider);
  WantsWrite();
}

void Session::Inform(Stream& stream, int code) {
  const Headers headers{{":status", std::to_string(code)}};
  const HeaderFields head(headers);
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id_, nullptr, head.data(), head.size(), nullptr);
  WantsWrite();
}

void Session::Adopt(std::int32_t id, const std::shared_ptr<Stream>& stream) {
  stream->session_ = this;
  stream->id_ = id;
  streams_.emplace(id, stream);
}

void Session::Forget(std::int32_t id, std::uint32_t error_code) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const std::shared_ptr<Stream> stream = std::move(found->second);
  streams_.erase(found);
  stream->session_ = nullptr;
  stream->queue_.clear();
  stream->OnClosed(error_code);
}

Stream* Session::Find(std::int32_t id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

std::vector<std::shared_ptr<Stream>> Session::Streams() const {
  std::vector<std::shared_ptr<Stream>> streams;
  streams.reserve(streams_.size());
  for (const auto& [id, stream] : streams_) streams.push_back(stream);
  return streams;
}

void Session::Ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  WantsWrite();
}

void Session::GoAway() {
  if (terminated_ || going_away_) return;
  going_away_ = true;
  if (options_.server) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                          NGHTTP2_NO_ERROR, nullptr, 0);
  }
  WantsWrite();
}

bool Session::Finished() const {
  if (!output_.empty()) return false;  // nghttp2 no longer counts the last response, but it is not written yet
  if (going_away_ && streams_.empty()) return true;
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

bool Session::TooManyQueuedFrames() const {
  return nghttp2_session_get_outbound_queue_size(session_) > options_.limits.queued_frames;
}

void Session::Terminate() {
  if (std::exchange(terminated_, true)) return;
  const auto streams = std::exchange(streams_, {});
  for (const auto& [id, stream] : streams) {
    stream->session_ = nullptr;
    stream->queue_.clear();
    const bool unsent = std::find(unsent_.begin(), unsent_.end(), id) != unsent_.end();
    stream->OnClosed(unsent ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR);
  }
}

}  // namespace apimesh::http2
