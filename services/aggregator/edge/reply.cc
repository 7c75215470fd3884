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

Task<bool> Reply::Send(int code, http::Headers headers, std::vector<SharedBytes> body) {
  code_ = code;
  for (const SharedBytes& piece : body) body_bytes_ += piece.size();
  if (keep_body_) body_ = body;
  return writer_.Send(code, Complete(std::move(headers)), std::move(body));
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
  rpc::Response response = rpc::Response::Error(error);
  return Send(response.code, std::move(response.headers), std::move(response.body));
}

void Reply::Started(int code) {
  code_ = code;
  if (const auto callback = std::exchange(on_start_, nullptr)) callback();
}

Task<bool> Reply::Start(int code, http::Headers headers, bool compress) {
  Started(code);
  return writer_.Start(code, Complete(std::move(headers)), compress);
}

bool Reply::TryWrite(const http::Chunk& chunk) {
  if (!writer_.TryWrite(chunk)) return false;
  body_bytes_ += chunk.Body().size();
  return true;
}

Task<bool> Reply::Write(std::vector<SharedBytes> pieces) {
  for (const SharedBytes& piece : pieces) body_bytes_ += piece.size();
  return writer_.Write(std::move(pieces));
}

Task<std::unique_ptr<http::RawConnection>> Reply::Upgrade(http::Headers headers) {
  Started(101);
  return writer_.Upgrade(Complete(std::move(headers)));
}

}  // namespace apimesh::aggregator
