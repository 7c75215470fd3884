#include "lib/grpc/server_stream.h"

#include "lib/grpc/percent.h"

namespace apimesh::grpc {
namespace {

const http2::Headers kHead{{":status", "200"}, {"content-type", "application/grpc"}};

std::shared_ptr<const http2::Headers> Trailers(const Status& status) {
  static const auto ok = std::make_shared<const http2::Headers>(http2::Headers{{"grpc-status", "0"}});
  if (status.ok() && status.message.empty()) return ok;
  http2::Headers trailers{{"grpc-status", std::to_string(static_cast<int>(status.code))}};
  if (!status.message.empty()) trailers.emplace_back("grpc-message", PercentEncode(status.message));
  return std::make_shared<const http2::Headers>(std::move(trailers));
}

}  // namespace

void ServerStream::OnHeader(std::string_view name, std::string_view value) {
  if (name == ":path") {
    path_ = value;
  } else if (name == "content-type") {
    is_grpc_ = value.starts_with("application/grpc");
  }
}

bool ServerStream::SendMessage(std::span<const SharedBytes> message) {
  if (finished_ || !IsOpen()) return false;
  if (!std::exchange(head_sent_, true)) session_->Respond(*this, kHead, false);
  std::size_t size = 0;
  for (const SharedBytes& piece : message) size += piece.size();
  return Send(message, MessagePrefix(size));
}

bool ServerStream::SendStatus(const Status& status) {
  if (std::exchange(finished_, true) || !IsOpen()) return false;
  auto trailers = Trailers(status);
  if (head_sent_) {
    End(std::move(trailers));
  } else {
    http2::Headers head = kHead;
    head.insert(head.end(), trailers->begin(), trailers->end());
    session_->Respond(*this, head, true);
  }
  return true;
}

void ServerStream::RespondPlain(const http2::Headers& head, bool last) {
  finished_ = head_sent_ = true;
  session_->Respond(*this, head, last);
}

}  // namespace apimesh::grpc
