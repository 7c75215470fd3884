#include "services/store/net/h2_call.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <cstring>

namespace apimesh::store {
namespace {

// A stream whose reader lags by this much stops getting events until it has read most of them.
constexpr std::size_t kCongestedAbove = 4 * 1024 * 1024;
constexpr std::size_t kDrainedBelow = 512 * 1024;

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (c >= 0x20 && c <= 0x7e && c != '%') {
      out.push_back(static_cast<char>(c));
    } else {
      out += fmt::format("%{:02X}", c);
    }
  }
  return out;
}

ssize_t ReadQueued(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                   nghttp2_data_source* source, void*) {
  auto* call = static_cast<H2Call*>(source->ptr);
  const std::size_t ready = std::min(length, call->Queued());
  if (ready == 0 && !call->Finished()) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (call->Finished() && ready == call->Queued()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (call->SubmitTrailers()) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  }
  return static_cast<ssize_t>(ready);
}

std::string Prefix(std::size_t size) {
  std::string prefix(5, '\0');
  for (int i = 0; i < 4; ++i) prefix[1 + i] = static_cast<char>(size >> (24 - 8 * i));
  return prefix;
}

}  // namespace

void H2Call::AddHeader(std::string_view name, std::string_view value) {
  if (name == ":path") path_ = value;
  if (name == "content-type") content_type_ = value;
}

void H2Call::Start(const Routes& routes) {
  if (!content_type_.starts_with("application/grpc")) {
    plain_http_ = true;
    return AnswerHttp(routes);
  }
  handler_ = routes.grpc(path_, shared_from_this());
  if (!handler_) Finish({Status::kUnimplemented, fmt::format("unknown method {}", path_)});
}

void H2Call::AnswerHttp(const Routes& routes) {
  HttpAnswer answer = routes.http(path_);
  SubmitHeaders(answer.content_type.c_str(), answer.status);
  Enqueue(std::move(answer.body));
  finished_ = true;
  Resume();
}

void H2Call::OnData(std::string_view bytes, std::size_t max_message_bytes) {
  if (!handler_ || finished_) return;
  if (!partial_.empty()) {
    partial_.append(bytes);
    bytes = partial_;
  }
  std::size_t used = 0;
  while (handler_ && !finished_ && bytes.size() - used >= 5) {
    const auto* head = reinterpret_cast<const unsigned char*>(bytes.data() + used);
    const std::size_t size = std::size_t{head[1]} << 24 | std::size_t{head[2]} << 16 | std::size_t{head[3]} << 8 | head[4];
    if (head[0] != 0) {
      Finish({Status::kUnimplemented, "grpc: Decompressor is not installed for this message's encoding"});
      break;
    }
    if (size > max_message_bytes) {
      Finish({Status::kResourceExhausted,
              fmt::format("grpc: received message larger than max ({} vs. {})", size, max_message_bytes)});
      break;
    }
    if (bytes.size() - used - 5 < size) break;
    handler_->OnMessage(bytes.substr(used + 5, size));
    used += 5 + size;
  }
  if (partial_.empty()) {
    partial_.assign(bytes.substr(used));
  } else {
    partial_.erase(0, used);
  }
}

void H2Call::OnHalfClose() {
  if (handler_ && !finished_) handler_->OnHalfClose();
}

void H2Call::NotifyDrained() {
  if (handler_ && !finished_) handler_->OnDrained();
}

void H2Call::Detach() {
  owner_ = nullptr;
  handler_.reset();
  queue_.clear();
  queued_ = 0;
}

void H2Call::SubmitHeaders(const char* content_type, int http_status) {
  headers_sent_ = true;
  const std::string status = std::to_string(http_status);
  const nghttp2_nv headers[] = {Header(":status", status), Header("content-type", content_type)};
  nghttp2_data_provider provider{.source = {.ptr = this}, .read_callback = &ReadQueued};
  nghttp2_submit_response(owner_->Session(), stream_id_, headers, std::size(headers), &provider);
}

void H2Call::Enqueue(std::string bytes) {
  if (bytes.empty()) return;
  queued_ += bytes.size();
  queue_.push_back(std::move(bytes));
  if (queued_ > kCongestedAbove) congested_ = true;
}

void H2Call::Resume() {
  nghttp2_session_resume_data(owner_->Session(), stream_id_);
  owner_->WantsFlush();
}

void H2Call::Send(std::string message) {
  if (owner_ == nullptr || finished_) return;
  if (!headers_sent_) SubmitHeaders("application/grpc", 200);
  Enqueue(Prefix(message.size()));
  Enqueue(std::move(message));
  Resume();
}

void H2Call::Finish(Status status) {
  if (owner_ == nullptr || finished_) return;
  finished_ = true;
  status_ = std::move(status);
  if (headers_sent_) return Resume();
  headers_sent_ = true;
  const std::string code = std::to_string(status_.code);
  const std::string message = PercentEncode(status_.message);
  const nghttp2_nv headers[] = {Header(":status", "200"), Header("content-type", "application/grpc"),
                                Header("grpc-status", code), Header("grpc-message", message)};
  nghttp2_submit_response(owner_->Session(), stream_id_, headers, message.empty() ? 3 : 4, nullptr);
  owner_->WantsFlush();
}

void H2Call::TakeQueued(std::size_t length, std::string& out) {
  queued_ -= length;
  while (length > 0) {
    const std::string& front = queue_.front();
    const std::size_t part = std::min(length, front.size() - front_offset_);
    out.append(front, front_offset_, part);
    length -= part;
    front_offset_ += part;
    if (front_offset_ == front.size()) {
      queue_.pop_front();
      front_offset_ = 0;
    }
  }
  if (congested_ && queued_ < kDrainedBelow) {
    congested_ = false;
    owner_->Drained(shared_from_this());
  }
}

bool H2Call::SubmitTrailers() {
  if (plain_http_) return false;
  const std::string code = std::to_string(status_.code);
  const std::string message = PercentEncode(status_.message);
  const nghttp2_nv trailers[] = {Header("grpc-status", code), Header("grpc-message", message)};
  nghttp2_submit_trailer(owner_->Session(), stream_id_, trailers, message.empty() ? 1 : 2);
  return true;
}

}  // namespace apimesh::store
