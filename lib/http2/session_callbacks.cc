#include "lib/http2/session_callbacks.h"

#include <algorithm>

namespace apimesh::http2 {
namespace {

constexpr std::size_t kFrameHeaderBytes = 9;
constexpr std::size_t kCopyBelow = 1024;  // copying fewer bytes is cheaper than another piece for the kernel

std::string_view Text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

int Session::Callbacks::OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* user_data) {
  Session& self = From(user_data);
  // A stream may have terminated the session when it got an earlier frame of the same bytes.
  if (self.terminated_) return NGHTTP2_ERR_CALLBACK_FAILURE;
  return self.frame_limit_.CountFrame(head->type, head->flags, head->length) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

int Session::Callbacks::OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
  Session& self = From(user_data);
  self.frame_limit_.BeginHeaders();
  if (!self.options_.server || frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
    return 0;
  // The GOAWAY of this side, which may not have been sent yet, declares that this request is not processed. The client
  // may send it to another server, so it must not run here.
  if (self.going_away_)
    return nghttp2_submit_rst_stream(self.session_, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
  const std::shared_ptr<Stream> stream = self.options_.accept();
  if (!stream) return NGHTTP2_ERR_CALLBACK_FAILURE;
  self.Adopt(frame->hd.stream_id, stream);
  return 0;
}

int Session::Callbacks::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                                 std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                                 void* user_data) {
  Session& self = From(user_data);
  if (!self.frame_limit_.CountHeader(name_size + value_size)) return NGHTTP2_ERR_CALLBACK_FAILURE;
  if (Stream* stream = self.Find(frame->hd.stream_id)) stream->OnHeader(Text(name, name_size), Text(value, value_size));
  return 0;
}

int Session::Callbacks::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
  Session& self = From(user_data);
  if (frame->hd.type == NGHTTP2_GOAWAY) self.going_away_ = true;
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame->hd.type == NGHTTP2_DATA && !last) return 0;
  Stream* stream = self.Find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  const auto alive = stream->shared_from_this();
  if (frame->hd.type == NGHTTP2_HEADERS) stream->OnHeadersDone(last);
  if (last && stream->IsOpen() && !stream->reset_) stream->OnRemoteEnd();
  return 0;
}

int Session::Callbacks::OnData(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                               std::size_t size, void* user_data) {
  nghttp2_session_consume_connection(session, size);
  Stream* stream = From(user_data).Find(id);
  if (stream == nullptr) return 0;
  const auto alive = stream->shared_from_this();
  if (!stream->reset_) stream->OnData(Text(data, size));
  if (!stream->IsOpen()) return 0;
  if (stream->holding_) {
    stream->withheld_ += size;
  } else {
    nghttp2_session_consume_stream(session, id, size);
  }
  return 0;
}

int Session::Callbacks::OnStreamClose(nghttp2_session*, std::int32_t id, std::uint32_t error_code, void* user_data) {
  From(user_data).Forget(id, error_code);
  return 0;
}

ssize_t Session::Callbacks::ReadLength(nghttp2_session*, std::uint8_t, std::int32_t, std::int32_t connection_window,
                                       std::int32_t stream_window, std::uint32_t frame_bytes, void* user_data) {
  const std::int64_t most = std::min(frame_bytes, From(user_data).options_.limits.frame_bytes);
  return std::min<std::int64_t>({connection_window, stream_window, most});
}

ssize_t Session::Callbacks::Read(nghttp2_session* session, std::int32_t id, std::uint8_t*, std::size_t length,
                                 std::uint32_t* flags, nghttp2_data_source* source, void* user_data) {
  // A stream may have terminated the session when it was closed. Other streams may be destroyed by now.
  if (From(user_data).terminated_) return NGHTTP2_ERR_CALLBACK_FAILURE;
  auto* stream = static_cast<Stream*>(source->ptr);
  const std::size_t ready = std::min(length, stream->queued_);
  if (ready == 0 && !stream->ended_) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (stream->ended_ && ready == stream->queued_) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (stream->trailers_) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const HeaderFields trailers(*stream->trailers_);
      nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
    }
  }
  return static_cast<ssize_t>(ready);
}

int Session::Callbacks::SendData(nghttp2_session*, nghttp2_frame*, const std::uint8_t* head, std::size_t length,
                                 nghttp2_data_source* source, void* user_data) {
  Session& self = From(user_data);
  auto* stream = static_cast<Stream*>(source->ptr);
  self.output_.Copy(Text(head, kFrameHeaderBytes));
  self.frame_limit_.SentData(length);
  TakeQueued(*stream, length, self.output_);
  if (stream->above_high_watermark_ && stream->queued_ <= self.options_.limits.low_watermark) {
    stream->above_high_watermark_ = false;
    self.drained_.push_back(stream->shared_from_this());
  }
  return 0;
}

void Session::Callbacks::TakeQueued(Stream& stream, std::size_t length, OutputQueue& output) {
  stream.queued_ -= length;
  while (length > 0) {
    const Stream::Queued& front = stream.queue_.front();
    const std::size_t offset = stream.front_offset_;
    const bool in_prefix = offset < front.prefix.size;
    const std::string_view rest =
        in_prefix ? front.prefix.View().substr(offset) : front.bytes.View().substr(offset - front.prefix.size);
    const std::string_view part = rest.substr(0, length);
    if (part.size() < kCopyBelow) {
      output.Copy(part);
    } else {
      output.Share(front.bytes.Owner(), part);
    }
    length -= part.size();
    stream.front_offset_ += part.size();
    if (stream.front_offset_ == front.size()) {
      stream.queue_.pop_front();
      stream.front_offset_ = 0;
    }
  }
}

nghttp2_session* Session::Callbacks::NewSession(Session& self) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, &OnBeginFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
  nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, &ReadLength);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, &SendData);
  const Limits& limits = self.options_.limits;
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_no_auto_window_update(option, 1);
  // Streams validate their headers. nghttp2 would refuse, for example, an :authority with a scheme
  // ("http://host:port"), which etcdctl 3.4 sends.
  nghttp2_option_set_no_http_messaging(option, 1);
  nghttp2_option_set_peer_max_concurrent_streams(option, limits.concurrent_streams);
  nghttp2_option_set_stream_reset_rate_limit(option, limits.reset_burst, limits.resets_per_second);
  nghttp2_option_set_max_continuations(option, limits.continuation_frames);
  nghttp2_option_set_max_settings(option, limits.settings_entries);
  nghttp2_option_set_max_outbound_ack(option, limits.queued_acknowledgements);
  nghttp2_session* session = nullptr;
  if (self.options_.server) {
    nghttp2_session_server_new2(&session, callbacks, &self, option);
  } else {
    nghttp2_session_client_new2(&session, callbacks, &self, option);
  }
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  return session;
}

}  // namespace apimesh::http2
