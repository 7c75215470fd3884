#include "services/store/net/h2_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "services/store/net/h2_call.h"

namespace apimesh::store {
namespace {

constexpr std::size_t kFillBound = 256 * 1024;
constexpr std::int32_t kStreamWindow = 4 * 1024 * 1024;
constexpr std::int32_t kConnectionWindow = 64 * 1024 * 1024;

}  // namespace

class H2Session::Impl final : public H2CallOwner {
 public:
  Impl(const Routes& routes, std::function<void()> wants_flush)
      : routes_(routes), wants_flush_(std::move(wants_flush)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_send_callback(callbacks, &Impl::OnSend);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, &Impl::OnSendData);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &Impl::OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &Impl::OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Impl::OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Impl::OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Impl::OnStreamClose);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_closed_streams(option, 1);
    // etcdctl 3.4 sends an :authority with a scheme in it ("http://host:port"), which nghttp2 would refuse.
    nghttp2_option_set_no_http_messaging(option, 1);
    nghttp2_session_server_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1u << 20},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
    };
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }

  ~Impl() override {
    for (auto& [id, call] : calls_) call->Detach();
    calls_.clear();
    nghttp2_session_del(session_);
  }

  bool Receive(std::string_view bytes) {
    const ssize_t used = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    wants_flush_();
    return used >= 0 && static_cast<std::size_t>(used) == bytes.size();
  }

  bool Fill(std::string& out) {
    out_ = &out;
    const int result = nghttp2_session_send(session_);
    out_ = nullptr;
    return result == 0;
  }

  void NotifyDrained() {
    std::vector<std::shared_ptr<H2Call>> drained;
    drained.swap(drained_);
    for (const auto& call : drained) call->NotifyDrained();
  }

  // H2CallOwner
  nghttp2_session* Session() override { return session_; }
  void WantsFlush() override { wants_flush_(); }
  void Drained(std::shared_ptr<H2Call> call) override { drained_.push_back(std::move(call)); }

  nghttp2_session* session_ = nullptr;
  bool leaving_ = false;  // takes no new calls

 private:
  static Impl& From(void* user_data) { return *static_cast<Impl*>(user_data); }

  static ssize_t OnSend(nghttp2_session*, const std::uint8_t* data, std::size_t length, int, void* user_data) {
    std::string& out = *From(user_data).out_;
    if (out.size() >= kFillBound) return NGHTTP2_ERR_WOULDBLOCK;
    out.append(reinterpret_cast<const char*>(data), length);
    return static_cast<ssize_t>(length);
  }

  static int OnSendData(nghttp2_session*, nghttp2_frame*, const std::uint8_t* header, std::size_t length,
                        nghttp2_data_source* source, void* user_data) {
    std::string& out = *From(user_data).out_;
    if (out.size() >= kFillBound) return NGHTTP2_ERR_WOULDBLOCK;
    out.append(reinterpret_cast<const char*>(header), 9);
    static_cast<H2Call*>(source->ptr)->TakeQueued(length, out);
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Impl& self = From(user_data);
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      // Our good-bye, which may not have left yet, says that we have not seen this one: clients send such a call again elsewhere.
      if (self.leaving_) return nghttp2_submit_rst_stream(self.session_, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
      self.calls_[frame->hd.stream_id] = std::make_shared<H2Call>(self, frame->hd.stream_id);
    }
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_length,
                      const std::uint8_t* value, std::size_t value_length, std::uint8_t, void* user_data) {
    const auto call = From(user_data).Find(frame->hd.stream_id);
    if (call) {
      call->AddHeader({reinterpret_cast<const char*>(name), name_length},
                      {reinterpret_cast<const char*>(value), value_length});
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Impl& self = From(user_data);
    const auto call = self.Find(frame->hd.stream_id);
    if (!call) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) call->Start(self.routes_);
    const bool carries_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) call->OnHalfClose();
    return 0;
  }

  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t stream_id, const std::uint8_t* data,
                    std::size_t length, void* user_data) {
    Impl& self = From(user_data);
    if (const auto call = self.Find(stream_id)) {
      call->OnData({reinterpret_cast<const char*>(data), length}, self.routes_.max_message_bytes);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, std::int32_t stream_id, std::uint32_t, void* user_data) {
    Impl& self = From(user_data);
    const auto found = self.calls_.find(stream_id);
    if (found == self.calls_.end()) return 0;
    const std::shared_ptr<H2Call> call = std::move(found->second);
    self.calls_.erase(found);
    call->Detach();
    return 0;
  }

  std::shared_ptr<H2Call> Find(std::int32_t stream_id) {
    const auto found = calls_.find(stream_id);
    return found == calls_.end() ? nullptr : found->second;
  }

  const Routes& routes_;
  std::function<void()> wants_flush_;
  std::string* out_ = nullptr;
  std::unordered_map<std::int32_t, std::shared_ptr<H2Call>> calls_;
  std::vector<std::shared_ptr<H2Call>> drained_;
};

H2Session::H2Session(const Routes& routes, std::function<void()> wants_flush)
    : impl_(std::make_unique<Impl>(routes, std::move(wants_flush))) {}
H2Session::~H2Session() = default;

bool H2Session::Receive(std::string_view bytes) { return impl_->Receive(bytes); }
bool H2Session::Fill(std::string& out) { return impl_->Fill(out); }
void H2Session::NotifyDrained() { impl_->NotifyDrained(); }
bool H2Session::WantsWrite() const { return nghttp2_session_want_write(impl_->session_) != 0; }
bool H2Session::Finished() const {
  return nghttp2_session_want_write(impl_->session_) == 0 && nghttp2_session_want_read(impl_->session_) == 0;
}
void H2Session::GoAway() {
  impl_->leaving_ = true;
  nghttp2_submit_shutdown_notice(impl_->session_);
  nghttp2_submit_goaway(impl_->session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(impl_->session_), NGHTTP2_NO_ERROR, nullptr, 0);
}

}  // namespace apimesh::store
