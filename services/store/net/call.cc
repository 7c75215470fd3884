#include "services/store/net/call.h"

#include <fmt/format.h>

namespace apimesh::store {

void Call::OnHeadersDone(bool /*last*/) {
  if (std::exchange(started_, true)) return;  // trailers
  if (!IsGrpc()) return AnswerHttp();
  handler_ = routes_.grpc(Path(), std::static_pointer_cast<Call>(shared_from_this()));
  if (!handler_) Finish({Code::kUnimplemented, fmt::format("unknown method {}", Path())});
}

void Call::AnswerHttp() {
  HttpAnswer answer = routes_.http(Path());
  RespondPlain({{":status", std::to_string(answer.status)}, {"content-type", answer.content_type}}, false);
  const SharedBytes body(std::move(answer.body));
  Stream::Send(std::span(&body, 1));
  End();
}

void Call::OnData(std::string_view data) {
  using Outcome = grpc::MessageReader::Outcome;
  const Outcome outcome = message_reader_.ReadAll(
      data, [this] { return Running(); }, [this] { handler_->OnMessage(message_reader_.View()); });
  if (outcome == Outcome::kCompressed) {
    Finish({Code::kUnimplemented, "grpc: Decompressor is not installed for this message's encoding"});
  } else if (outcome == Outcome::kTooLarge) {
    Finish(
        {Code::kResourceExhausted, fmt::format("grpc: received message larger than max ({} vs. {})",
                                               message_reader_.AnnouncedBytes(), message_reader_.MaxMessageBytes())});
  }
}

void Call::OnRemoteEnd() {
  if (Running()) handler_->OnHalfClose();
}

void Call::OnBelowLowWatermark() {
  if (Running()) handler_->OnDrained();
}

/// The handler holds a reference to its call, so it must be destroyed to release the call.
void Call::OnClosed(std::uint32_t /*error_code*/) { handler_.reset(); }

void Call::Send(std::string message) {
  const SharedBytes piece(std::move(message));
  SendMessage(std::span(&piece, 1));
}

}  // namespace apimesh::store
