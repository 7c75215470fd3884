#include "services/aggregator/edge/reply.h"

namespace apimesh::aggregator {

void Reply::SetHeader(std::string name, std::string value) {
  for (auto& [key, old] : extra_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  extra_.emplace_back(std::move(name), std::move(value));
}

http::Headers Reply::Complete(http::Headers headers) const {
  http::Headers all = extra_;
  all.reserve(extra_.size() + headers.size());
  for (auto& header : headers) {
    bool ours = false;
    for (const auto& [name, value] : extra_) ours |= name == header.first;
    if (!ours) all.push_back(std::move(header));
  }
  return all;
}

bool Reply::Keeps(int code, std::size_t bytes) const {
  constexpr std::size_t kLargestStatus = 4096;  // of a success; errors can be larger
  if (keep_ == Keep::kStatus) return code >= 400 || bytes <= kLargestStatus;
  return keep_ == Keep::kAll;
}

void Reply::KeepType(const http::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "content-type") content_type_ = value;
  }
}

Task<bool> Reply::Send(int code, http::Headers headers, std::vector<SharedBytes> body) {
  code_ = code;
  for (const SharedBytes& piece : body) body_bytes_ += piece.size();
  if (Keeps(code, body_bytes_)) {
    if (!CopyRevocable(body)) return Broken();  // the audit log reads the body after the response has been sent
    body_ = body;
    KeepType(headers);
  }
  if (before_head_) return SendLater(std::move(headers), std::move(body));
  return writer_.Send(code, Complete(std::move(headers)), std::move(body));
}

Task<bool> Reply::SendLater(http::Headers headers, std::vector<SharedBytes> body) {
  const HeadFn callback = std::exchange(before_head_, nullptr);
  co_await callback(true);
  co_return co_await writer_.Send(code_, Complete(std::move(headers)), std::move(body));
}

Task<bool> Reply::Broken() {
  writer_.Abort();
  co_return false;
}

Task<bool> Reply::SendText(int code, std::string content_type, std::string text) {
  http::Headers headers;
  headers.emplace_back("content-type", std::move(content_type));
  if (code >= 400) headers.emplace_back("x-content-type-options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  return Send(code, std::move(headers), std::move(body));
}

Task<bool> Reply::SendError(meta::ApiError error) {
  mesh::Response response = mesh::Response::Error(error);
  return Send(response.code, std::move(response.headers), std::move(response.body));
}

Task<bool> Reply::Start(int code, http::Headers headers, bool compress) {
  code_ = code;
  keep_stream_ = keep_ == Keep::kAll;
  if (keep_stream_) KeepType(headers);
  if (before_head_) return StartLater(std::move(headers), compress);
  return writer_.Start(code, Complete(std::move(headers)), compress);
}

Task<bool> Reply::StartLater(http::Headers headers, bool compress) {
  const HeadFn callback = std::exchange(before_head_, nullptr);
  co_await callback(false);
  co_return co_await writer_.Start(code_, Complete(std::move(headers)), compress);
}

bool Reply::TryWrite(const http::Chunk& chunk) {
  if (!writer_.TryWrite(chunk)) return false;
  body_bytes_ += chunk.Body().size();
  return true;
}

Task<bool> Reply::Write(std::vector<SharedBytes> pieces) {
  for (const SharedBytes& piece : pieces) body_bytes_ += piece.size();
  if (keep_stream_) {
    if (!CopyRevocable(pieces)) return Broken();
    body_.insert(body_.end(), pieces.begin(), pieces.end());
  }
  return writer_.Write(std::move(pieces));
}

Task<std::unique_ptr<http::RawConnection>> Reply::Upgrade(http::Headers headers) {
  code_ = 101;
  if (before_head_) return UpgradeLater(std::move(headers));
  return writer_.Upgrade(Complete(std::move(headers)));
}

Task<std::unique_ptr<http::RawConnection>> Reply::UpgradeLater(http::Headers headers) {
  const HeadFn callback = std::exchange(before_head_, nullptr);
  co_await callback(false);
  co_return co_await writer_.Upgrade(Complete(std::move(headers)));
}

}  // namespace apimesh::aggregator
