#include "lib/h2/session.h"

#include <boost/asio/post.hpp>
#include <nghttp2/nghttp2.h>

#include <algorithm>

namespace apimesh::h2 {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kScratchBytes = 128 << 10;
constexpr std::uint32_t kFrameBytes = 128 << 10;
constexpr std::int32_t kConnectionWindow = 0x7fffffff;  // streams hold each other up by nothing but their own windows
constexpr std::size_t kFlushBytes = 512 << 10;
constexpr int kReadsPerTurn = 16;
// Resets by a client. nghttp2's default (1,000 at once, 33 per second) is less than what readers of lent lists do, who reset each call: one
// thread, which has a connection of its own, reads at most some 10,000 lists per second.
constexpr std::uint64_t kResetBurst = 20'000, kResetsPerSecond = 20'000;
// Frames that wait because the peer does not read, data apart, which its windows limit.
constexpr std::size_t kMostQueuedFrames = 100'000;

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())), reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

template <class Headers>
std::vector<nghttp2_nv> ToHeaders(const Headers& headers) {
  std::vector<nghttp2_nv> result;
  result.reserve(headers.size());
  for (const auto& [name, value] : headers) result.push_back(Header(name, value));
  return result;
}

std::string_view Text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace

/// nghttp2's events, each a few lines.
struct Session::Callbacks {
  static Session& From(void* user_data) { return *static_cast<Session*>(user_data); }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* user_data) {
    return From(user_data).limit_.CountFrame(head->type, head->flags, head->length) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Session& self = From(user_data);
    self.limit_.BeginHeaders();
    if (!self.options_.server || frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    // Our good-bye, which may not have left yet, says that we have not seen this one; its client may send it to another server.
    if (self.going_away_) return nghttp2_submit_rst_stream(self.session_, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
    self.Adopt(frame->hd.stream_id, self.options_.accept());
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user_data) {
    if (!From(user_data).limit_.CountHeader(name_size + value_size)) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (Stream* stream = From(user_data).Find(frame->hd.stream_id)) {
      stream->OnHeader(Text(name, name_size), Text(value, value_size));
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Session& self = From(user_data);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.going_away_ = true;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Stream* stream = self.Find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const auto alive = stream->shared_from_this();
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS) stream->OnHeadersDone(last);
    if (last) stream->OnRemoteEnd();
    return 0;
  }

  static int OnData(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                    void* user_data) {
    nghttp2_session_consume_connection(session, size);
    if (Stream* stream = From(user_data).Find(id)) {
      const auto alive = stream->shared_from_this();
      stream->Receive(Text(data, size));
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, std::int32_t id, std::uint32_t error_code, void* user_data) {
    From(user_data).Forget(id, error_code);
    return 0;
  }

  static ssize_t ReadLength(nghttp2_session*, std::uint8_t, std::int32_t, std::int32_t connection_window,
                            std::int32_t stream_window, std::uint32_t frame_bytes, void*) {
    return std::min<std::int64_t>({connection_window, stream_window, std::int64_t{frame_bytes}, kFrameBytes});
  }

  static ssize_t Read(nghttp2_session* session, std::int32_t id, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    auto* stream = static_cast<Stream*>(source->ptr);
    const std::size_t ready = std::min(length, stream->queued_);
    if (ready == 0 && !stream->ended_) return NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->ended_ && ready == stream->queued_) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!stream->trailers_.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const auto trailers = ToHeaders(stream->trailers_);
        nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
      }
    }
    return static_cast<ssize_t>(ready);
  }

  static int SendData(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head, std::size_t length,
                      nghttp2_data_source* source, void* user_data) {
    Session& self = From(user_data);
    auto* stream = static_cast<Stream*>(source->ptr);
    (void)frame;
    self.gathered_.append(Text(head, 9));
    self.out_.push_back({SharedBytes(), 9});
    self.out_bytes_ += 9 + length;
    stream->queued_ -= length;
    while (length > 0) {
      const Stream::Queued& front = stream->queue_.front();
      const bool in_prefix = stream->front_offset_ < front.PrefixBytes();
      const std::string_view rest = in_prefix ? std::string_view(front.prefix.data(), front.prefix.size()).substr(stream->front_offset_)
                                              : front.bytes.View().substr(stream->front_offset_ - front.PrefixBytes());
      const std::size_t part = std::min(length, rest.size());
      constexpr std::size_t kCopyBelow = 1024;  // then copying is cheaper than one more piece for the kernel
      if (part < kCopyBelow) {
        self.gathered_.append(rest.substr(0, part));
        self.out_.back().bytes.empty() ? void(self.out_.back().size += part) : void(self.out_.push_back({SharedBytes(), part}));
      } else {
        self.out_.push_back({SharedBytes(front.bytes.Owner(), rest.substr(0, part)), part});
      }
      length -= part;
      stream->front_offset_ += part;
      if (stream->front_offset_ == front.size()) {
        stream->queue_.pop_front();
        stream->front_offset_ = 0;
      }
    }
    if (stream->crowded_ && stream->queued_ <= Stream::kCrowded / 4) {
      stream->crowded_ = false;
      self.drained_.push_back(stream->shared_from_this());
    }
    return 0;
  }

  static nghttp2_session* NewSession(Session& self) {
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
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_http_messaging(option, 1);  // gRPC's own rules are looked after by its calls
    nghttp2_option_set_peer_max_concurrent_streams(option, 1u << 20);
    nghttp2_option_set_stream_reset_rate_limit(option, kResetBurst, kResetsPerSecond);
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
};

std::shared_ptr<Session> Session::Start(asio::any_io_executor executor, std::unique_ptr<http::Transport> transport,
                                        SessionOptions options) {
  std::shared_ptr<Session> session(new Session(std::move(executor), std::move(transport), std::move(options)));
  session->Begin();
  return session;
}

Session::Session(asio::any_io_executor executor, std::unique_ptr<http::Transport> transport, SessionOptions options)
    : executor_(std::move(executor)), transport_(std::move(transport)), options_(std::move(options)), keepalive_(executor_) {}

Session::~Session() {
  for (auto& [id, stream] : streams_) stream->session_ = nullptr;
  nghttp2_session_del(session_);
}

void Session::Begin() {
  session_ = Callbacks::NewSession(*this);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1u << 20},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kFrameBytes},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
  };
  const std::size_t count = options_.server ? std::size(settings) - 1 : std::size(settings);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, count);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  FlushSoon();
  WaitReadable();
  if (options_.keepalive.count() > 0) KeepAlive();
}

bool Session::Open(const std::shared_ptr<Stream>& stream, const MetadataViews& headers) {
  if (!TakesCalls()) return false;
  nghttp2_data_provider provider{.source = {.ptr = stream.get()}, .read_callback = &Callbacks::Read};
  const auto head = ToHeaders(headers);
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, head.data(), head.size(), &provider, nullptr);
  if (id < 0) {  // the numbers of streams are used up
    GoAway();
    return false;
  }
  Adopt(id, stream);
  unsent_.push_back(id);
  FlushSoon();
  return true;
}

void Session::Respond(Stream& stream, const Metadata& headers, bool last) {
  nghttp2_data_provider provider{.source = {.ptr = &stream}, .read_callback = &Callbacks::Read};
  const auto head = ToHeaders(headers);
  nghttp2_submit_response(session_, stream.id_, head.data(), head.size(), last ? nullptr : &provider);
  FlushSoon();
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
  for (const auto& [id, stream] : streams_) streams.push_back(stream);
  return streams;
}

void Session::WaitReadable() {
  transport_->WaitReadable([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnReadable();
  });
}

void Session::OnReadable() {
  if (closed_) return;
  thread_local char scratch[kScratchBytes];
  heard_ = true;
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const long size = transport_->TryRead(scratch, sizeof(scratch));
    if (size == http::Transport::kWouldBlock) break;
    if (size <= 0) return Close("connection closed");
    receiving_ = true;
    const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(scratch), size);
    receiving_ = false;
    if (used < 0) return Close(nghttp2_strerror(static_cast<int>(used)));
    if (closed_) return;
    // Less than there was room for: there is no more, and asking would cost a system call.
    if (static_cast<std::size_t>(size) < sizeof(scratch) && !transport_->Buffered()) break;
  }
  Flush();
  if (closed_) return;
  if (nghttp2_session_get_outbound_queue_size(session_) > kMostQueuedFrames && waiting_writable_) return Close("the peer does not read");
  WaitReadable();
}

void Session::FlushSoon() {
  if (flush_posted_ || waiting_writable_ || closed_) return;
  flush_posted_ = true;
  asio::post(executor_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->flush_posted_ = false;
    self->Flush();
  });
}

void Session::Flush() {
  if (flushing_ || closed_) return;
  flushing_ = true;
  bool more = true;
  while (more && !waiting_writable_ && !closed_) more = Gather() && WriteOut();
  flushing_ = false;
  if (!closed_) EndIfDrained();
}

/// Fills out_ with frames; false if there is nothing to write.
bool Session::Gather() {
  while (out_bytes_ < kFlushBytes) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) {
      Close(nghttp2_strerror(static_cast<int>(size)));
      return false;
    }
    if (size == 0) break;
    gathered_.append(Text(data, static_cast<std::size_t>(size)));
    out_bytes_ += static_cast<std::size_t>(size);
    if (!out_.empty() && out_.back().bytes.empty()) {
      out_.back().size += static_cast<std::size_t>(size);
    } else {
      out_.push_back({SharedBytes(), static_cast<std::size_t>(size)});
    }
  }
  const auto drained = std::exchange(drained_, {});
  for (const auto& stream : drained) stream->OnRoom();
  return !closed_ && out_bytes_ > 0;
}

/// Writes out_; false if the socket is full, or gone.
bool Session::WriteOut() {
  unsent_.clear();  // some of it may get through even if writing fails
  std::vector<std::string_view> pieces;
  pieces.reserve(out_.size());
  std::size_t offset = 0;
  for (const Part& part : out_) {
    pieces.push_back(part.bytes.empty() ? std::string_view(gathered_).substr(offset, part.size) : part.bytes.View());
    if (part.bytes.empty()) offset += part.size;
  }
  std::size_t first = 0;
  http::SkipBytes(pieces, first, written_);
  while (first < pieces.size()) {
    const long size = transport_->TryWrite(std::span<const std::string_view>(pieces).subspan(first));
    if (size == http::Transport::kWouldBlock) {
      waiting_writable_ = true;
      transport_->WaitWritable([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->waiting_writable_ = false;
        if (!self->closed_ && self->WriteOut()) self->Flush();
      });
      return false;
    }
    if (size <= 0) {
      Close("connection closed");
      return false;
    }
    written_ += static_cast<std::size_t>(size);
    http::SkipBytes(pieces, first, static_cast<std::size_t>(size));
  }
  out_.clear();
  gathered_.clear();
  if (gathered_.capacity() > kFlushBytes) gathered_.shrink_to_fit();
  out_bytes_ = written_ = 0;
  return true;
}

void Session::GoAway() {
  if (closed_ || going_away_) return;
  going_away_ = true;
  if (options_.server) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
  }
  FlushSoon();
}

void Session::EndIfDrained() {
  if (out_bytes_ > 0) return;  // the last answer, of which nghttp2 knows nothing any more, waits for the socket
  const bool done = going_away_ && streams_.empty();
  const bool finished = nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
  if (done || finished) Close("the connection was closed in order");
}

void Session::KeepAlive() {
  keepalive_.expires_after(options_.keepalive);
  keepalive_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    if (self->heard_ || self->streams_.empty()) {
      self->pinged_ = false;
    } else if (self->pinged_) {
      return self->Close("no sign of life");
    } else {
      self->pinged_ = true;
      nghttp2_submit_ping(self->session_, NGHTTP2_FLAG_NONE, nullptr);
      self->FlushSoon();
    }
    self->heard_ = false;
    self->KeepAlive();
  });
}

void Session::Close(const std::string& why) {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  keepalive_.cancel();
  transport_->Close();
  const auto streams = std::exchange(streams_, {});
  for (const auto& [id, stream] : streams) {
    stream->session_ = nullptr;
    stream->queue_.clear();
    const bool unsent = std::find(unsent_.begin(), unsent_.end(), id) != unsent_.end();
    stream->OnClosed(unsent ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR);
  }
  if (options_.closed) options_.closed(why);
}

}  // namespace apimesh::h2
