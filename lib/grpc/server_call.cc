#include "lib/grpc/server_call.h"

#include <charconv>
#include <set>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include "lib/base/log.h"
#include "lib/grpc/call_span.h"
#include "lib/tracing/tracer.h"

namespace apimesh::grpc {
namespace {

const http2::Headers kUnsupportedMediaType{{":status", "415"}};

/// Parses a timeout such as "500m": at most eight digits and a unit.
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size() - 1;
  if (std::from_chars(text.data(), end, number).ptr != end || number < 0) return std::nullopt;
  switch (text.back()) {
    case 'H': return std::chrono::hours(number);
    case 'M': return std::chrono::minutes(number);
    case 'S': return std::chrono::seconds(number);
    case 'm': return std::chrono::milliseconds(number);
    case 'u': return std::chrono::microseconds(number);
    case 'n': return std::chrono::nanoseconds(number);
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> Methods::Services() const {
  std::set<std::string> names;
  for (const auto& [path, method] : methods_) names.insert(path.substr(1, path.rfind('/') - 1));
  return {names.begin(), names.end()};
}

void ServerCall::OnHeader(std::string_view name, std::string_view value) {
  if (name == "traceparent" && tracing::Current()) traceparent_ = value;
  if (name != "grpc-timeout") return ServerStream::OnHeader(name, value);
  if (const auto timeout = ParseTimeout(value)) {
    const auto longest = std::chrono::hours(24 * 365);
    deadline_ = clock_.Steady() + std::min<std::chrono::nanoseconds>(*timeout, longest);
  }
}

void ServerCall::OnHeadersDone(bool /*last*/) {
  if (std::exchange(started_, true)) return;  // trailers
  if (!IsGrpc()) return RespondPlain(kUnsupportedMediaType, true);
  const auto found = methods_->methods_.find(Path());
  if (found == methods_->methods_.end()) return Finish({Code::kUnimplemented, "unknown method " + Path()});
  if (caller_ && !caller_->MayCall(Path())) {
    return Finish({Code::kPermissionDenied, fmt::format("{} may not call {}", caller_->identity, Path())});
  }
  method_ = &found->second;
  if (method_->stream) {
    boost::asio::co_spawn(executor_, RunStream(std::static_pointer_cast<ServerCall>(shared_from_this())),
                          boost::asio::detached);
  }
}

void ServerCall::OnData(std::string_view data) {
  const auto outcome =
      message_reader_.ReadAll(data, [this] { return IsOpen(); }, [this] { OnMessage(message_reader_.Take()); });
  if (outcome != MessageReader::Outcome::kIncomplete) Reset(NGHTTP2_ENHANCE_YOUR_CALM);
}

void ServerCall::OnMessage(std::string message) {
  if (Finished()) return;
  const bool unary = method_ != nullptr && method_->unary != nullptr;
  if (unary && !messages_.empty())
    return Finish({Code::kInvalidArgument, "one message is wanted"});  // a second message would never be read
  if (reader_) {
    auto waiter = Take(reader_);
    return std::move(*waiter).Resume(std::move(message));
  }
  messages_.push_back(std::move(message));
  if (!unary) HoldInput();
}

void ServerCall::OnRemoteEnd() {
  remote_ended_ = true;
  if (Finished() || method_ == nullptr) return;
  if (!method_->unary) {
    if (!reader_) return;
    auto waiter = Take(reader_);
    return std::move(*waiter).Resume(std::nullopt);
  }
  if (messages_.size() != 1) return Finish({Code::kInvalidArgument, "one message is wanted"});
  auto self = std::static_pointer_cast<ServerCall>(shared_from_this());
  auto ended = [self](std::exception_ptr) {};  // keeps the signal alive as long as the coroutine
  boost::asio::co_spawn(executor_, RunUnary(self, std::move(messages_.front())),
                        boost::asio::bind_cancellation_slot(stop_.slot(), std::move(ended)));
}

Task<> ServerCall::RunUnary(ServerCallPtr call, std::string request) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  UnaryReply reply;
  CallSpan span(tracing::Remote(call->traceparent_), call->Path(), tracing::Kind::kServer);
  call->span_ = span.GetSpan();
  try {
    reply = co_await call->method_->unary(call, std::move(request));
  } catch (const std::exception& error) {
    if (!call->Gone()) log::Error("{} failed: {}", call->Path(), error.what());
    reply.status = {Code::kInternal, error.what()};
  }
  span.Finish(reply.status);
  call->Reply(reply);
}

Task<> ServerCall::RunStream(ServerCallPtr call) {
  try {
    co_await call->method_->stream(call);
  } catch (const std::exception& error) {
    log::Error("{} failed: {}", call->Path(), error.what());
    call->Finish({Code::kInternal, error.what()});
  }
  call->Finish({Code::kUnknown, "the call was not answered"});
}

void ServerCall::Reply(const UnaryReply& reply) {
  if (reply.status.ok()) SendMessage(reply.message);
  Finish(reply.status);
}

Task<std::optional<std::string>> ServerCall::Read() {
  if (!messages_.empty()) {
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    if (messages_.empty()) ReleaseInput();
    co_return message;
  }
  if (remote_ended_ || Finished() || !IsOpen()) co_return std::nullopt;
  auto start = [this](Waiter<std::optional<std::string>> waiter) { reader_.emplace(std::move(waiter)); };
  co_return co_await Suspend<std::optional<std::string>>(std::move(start));
}

Task<bool> ServerCall::Write(Message message) {
  if (!SendMessage(message)) co_return false;
  message.clear();
  if (!AboveHighWatermark()) co_return true;
  auto start = [this](Waiter<bool> waiter) { writer_.emplace(std::move(waiter)); };
  co_return co_await Suspend<bool>(std::move(start));
}

void ServerCall::Finish(const Status& status) {
  if (!SendStatus(status)) return;
  cancelled_.clear();
  if (remote_ended_ || !reader_) return;
  auto waiter = Take(reader_);
  std::move(*waiter).Resume(std::nullopt);
}

void ServerCall::OnCancel(std::function<void()> callback) {
  if (Finished()) return;
  if (!IsOpen()) return callback();
  cancelled_.push_back(std::move(callback));
}

void ServerCall::OnClosed(std::uint32_t) {
  const auto alive = shared_from_this();
  const auto callbacks = std::exchange(cancelled_, {});
  if (!Finished()) {
    for (const auto& callback : callbacks) callback();
    stop_.emit(boost::asio::cancellation_type::terminal);
  }
  auto reader = Take(reader_);
  auto writer = Take(writer_);
  if (reader) std::move(*reader).Resume(std::nullopt);
  if (writer) std::move(*writer).Resume(false);
}

void ServerCall::OnBelowLowWatermark() {
  if (!writer_) return;
  auto waiter = Take(writer_);
  std::move(*waiter).Resume(true);
}

}  // namespace apimesh::grpc
