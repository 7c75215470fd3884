#include "lib/grpc/client_stream.h"

#include <charconv>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include "lib/grpc/link.h"
#include "lib/grpc/percent.h"

namespace apimesh::grpc {
namespace {

constexpr std::chrono::milliseconds kSameMoment{20};
constexpr std::size_t kMostKept = std::size_t{4} << 20;  // for sending the call to another server; the largest request
                                                         // has 3 MiB

int ToNumber(std::string_view text, int otherwise) {
  int number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The status of a call whose response has no gRPC status.
Status FromHttp(int http_status, std::uint32_t error_code) {
  if (error_code == NGHTTP2_REFUSED_STREAM) return {Code::kUnavailable, "the server refused the stream", true};
  if (error_code == NGHTTP2_CANCEL) return {Code::kCancelled, "the call was cancelled"};
  if (error_code == NGHTTP2_ENHANCE_YOUR_CALM) return {Code::kResourceExhausted, "received message larger than max"};
  if (http_status != 0 && http_status != 200) {
    const Code code = http_status == 401   ? Code::kUnauthenticated
                      : http_status == 403 ? Code::kPermissionDenied
                      : http_status == 404 ? Code::kUnimplemented
                                           : Code::kUnavailable;
    return {code, fmt::format("HTTP status {}", http_status)};
  }
  return {Code::kUnavailable, "the connection was lost"};
}

/// A long timeout is sent in whole seconds, rounded up: most calls then send the same text, which header compression
/// reduces to one byte. The client's own clock ends the call, so the rounding does not matter.
std::string TimeoutText(std::chrono::nanoseconds left) {
  constexpr std::chrono::seconds kLong{10}, kLongest{99'999'999};
  if (left > kLong)
    return fmt::format(
        "{}S", std::chrono::ceil<std::chrono::seconds>(std::min<std::chrono::nanoseconds>(left, kLongest)).count());
  return fmt::format("{}m", std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 1));
}

}  // namespace

http2::HeaderViews ClientStream::Head(std::string_view authority, bool tls) {
  http2::HeaderViews head;
  head.reserve(8 + options_.metadata.size());
  head = {
      {":method", "POST"}, {":scheme", tls ? "https" : "http"},  {":path", path_},         {":authority", authority},
      {"te", "trailers"},  {"content-type", "application/grpc"}, {"user-agent", "apimesh"}};
  if (options_.deadline != SteadyTime::max()) {
    timeout_ = TimeoutText(options_.deadline - clock_.Steady());
    head.emplace_back("grpc-timeout", timeout_);
  }
  for (const auto& [name, value] : options_.metadata) head.emplace_back(name, value);
  return head;
}

void ClientStream::BecomeUnary(Message request, Waiter<UnaryResult> waiter) {
  is_unary_ = true;
  unary_.emplace(std::move(waiter));
  written_.push_back(std::move(request));
  writes_done_ = true;
}

void ClientStream::OnOpen() {
  opened_ = true;
  for (Message& message : std::exchange(written_, {})) SendNow(std::move(message));
  if (writes_done_) End();
}

bool ClientStream::SendNow(Message message) {
  std::size_t size = 0;
  for (const SharedBytes& piece : message) size += piece.size();
  if (!Send(message, MessagePrefix(size))) return false;
  if (!may_retry_) return true;
  sent_bytes_ += size;
  written_.push_back(std::move(message));
  if (sent_bytes_ > kMostKept) StopRetries();
  return true;
}

/// The server may have processed the call from now on, so the call is never sent again.
void ClientStream::StopRetries() {
  may_retry_ = false;
  written_.clear();
}

/// Opens the call on another server, if that is still possible.
bool ClientStream::RetryElsewhere() {
  if (!std::exchange(may_retry_, false)) return false;
  const auto link = link_.lock();
  if (!link) return false;
  PrepareToReopen();
  message_reader_.Reset();
  opened_ = false;
  link->OpenSoon(std::static_pointer_cast<ClientStream>(shared_from_this()));
  OnBelowLowWatermark();
  return true;
}

void ClientStream::Read(Waiter<std::optional<std::string>> waiter) {
  if (!messages_.empty()) {
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    if (messages_.empty()) ReleaseInput();
    std::move(waiter).Resume(std::move(message));
  } else if (status_) {
    std::move(waiter).Resume(std::nullopt);
  } else {
    waiter.OnCancel([weak = weak_from_this()] {
      if (const auto self = weak.lock()) static_cast<ClientStream&>(*self).Abandon({Code::kCancelled, "cancelled"});
    });
    reader_.emplace(std::move(waiter));
  }
}

void ClientStream::Write(Message message, Waiter<bool> waiter) {
  if (status_ || writes_done_) return std::move(waiter).Resume(false);
  if (!opened_) {
    written_.push_back(std::move(message));
    return std::move(waiter).Resume(true);
  }
  if (!SendNow(std::move(message))) return std::move(waiter).Resume(false);
  if (!AboveHighWatermark()) return std::move(waiter).Resume(true);
  writer_.emplace(std::move(waiter));
}

void ClientStream::Post(Message message) {
  if (status_ || writes_done_) return;
  if (opened_) {
    SendNow(std::move(message));
  } else {
    written_.push_back(std::move(message));
  }
}

void ClientStream::WritesDone() {
  if (std::exchange(writes_done_, true)) return;
  if (opened_) End();
}

void ClientStream::Finish(Waiter<Status> waiter) {
  if (status_) return std::move(waiter).Resume(*status_);
  finish_.emplace(std::move(waiter));
}

void ClientStream::Abandon(Status status) {
  if (status_) return;
  Reset(NGHTTP2_CANCEL);
  Complete(std::move(status));
}

void ClientStream::OnHeader(std::string_view name, std::string_view value) {
  if (may_retry_) StopRetries();
  if (name == "grpc-status") {
    grpc_status_ = ToNumber(value, static_cast<int>(Code::kUnknown));
  } else if (name == "grpc-message") {
    grpc_message_ = PercentDecode(value);
  } else if (name == ":status") {
    http_status_ = ToNumber(value, 0);
  }
}

void ClientStream::OnData(std::string_view data) {
  const auto outcome =
      message_reader_.ReadAll(data, [this] { return IsOpen(); }, [this] { OnMessage(message_reader_.Take()); });
  if (outcome != MessageReader::Outcome::kIncomplete) Reset(NGHTTP2_ENHANCE_YOUR_CALM);
}

void ClientStream::OnMessage(std::string message) {
  if (status_) return;
  if (is_unary_ && !messages_.empty()) return Abandon({Code::kInternal, "the answer has more than one message"});
  if (reader_) {
    auto waiter = Take(reader_);
    return std::move(*waiter).Resume(std::move(message));
  }
  messages_.push_back(std::move(message));
  if (!is_unary_) HoldInput();
}

void ClientStream::OnRemoteEnd() {
  if (!grpc_status_) return OnClosed(NGHTTP2_NO_ERROR);
  Status status{static_cast<Code>(*grpc_status_), std::move(grpc_message_)};
  if (!writes_done_) Reset(NGHTTP2_NO_ERROR);  // the server does not read further messages
  Complete(std::move(status));
}

void ClientStream::OnClosed(std::uint32_t error_code) {
  if (status_) return;
  // The server has the same deadline, and may end the call slightly before this side's clock does.
  const bool late = Deadline() != SteadyTime::max() && clock_.Steady() + kSameMoment >= Deadline();
  if (!late && error_code == NGHTTP2_REFUSED_STREAM && RetryElsewhere()) return;
  Complete(late ? Status{Code::kDeadlineExceeded, "the deadline has passed"} : FromHttp(http_status_, error_code));
}

void ClientStream::OnBelowLowWatermark() {
  if (!writer_) return;
  auto waiter = Take(writer_);
  std::move(*waiter).Resume(true);
}

void ClientStream::Complete(Status status) {
  const auto alive = shared_from_this();
  status_ = std::move(status);
  if (unary_) {
    UnaryResult result{*status_, {}};
    if (status_->ok()) {
      if (messages_.empty()) {
        result.status = {Code::kInternal, "the answer is empty"};
      } else {
        result.message = std::move(messages_.front());
      }
    }
    auto waiter = Take(unary_);
    return std::move(*waiter).Resume(std::move(result));
  }
  auto reader = Take(reader_);
  auto writer = Take(writer_);
  auto finish = Take(finish_);
  if (reader) std::move(*reader).Resume(std::nullopt);
  if (writer) std::move(*writer).Resume(false);
  if (finish) std::move(*finish).Resume(*status_);
}

}  // namespace apimesh::grpc
