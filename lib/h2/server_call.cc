#include "lib/h2/server_call.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <charconv>
#include <set>

#include "lib/base/log.h"
#include "lib/h2/percent.h"
#include "lib/h2/session.h"

namespace apimesh::h2 {
namespace {

const Metadata kHead{{":status", "200"}, {"content-type", "application/grpc"}};

Metadata Trailers(const Status& status) {
  Metadata trailers{{"grpc-status", std::to_string(static_cast<int>(status.code))}};
  if (!status.message.empty()) trailers.emplace_back("grpc-message", PercentEncode(status.message));
  return trailers;
}

/// gRPC's "500m": at most eight digits and a unit.
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
  if (name == ":path") {
    path_ = value;
  } else if (name == "content-type") {
    content_type_ = value;
  } else if (name == "grpc-timeout") {
    if (const auto timeout = ParseTimeout(value)) {
      const auto longest = std::chrono::hours(24 * 365);
      deadline_ = Clock::System().Steady() + std::min<std::chrono::nanoseconds>(*timeout, longest);
    }
  }
}

void ServerCall::OnHeadersDone(bool /*last*/) {
  if (std::exchange(started_, true)) return;  // trailers
  if (!content_type_.starts_with("application/grpc")) {
    finished_ = true;
    const Metadata unsupported{{":status", "415"}};
    return session_->Respond(*this, unsupported, true);
  }
  const auto found = methods_->methods_.find(path_);
  if (found == methods_->methods_.end()) return Finish({Code::kUnimplemented, "unknown method " + path_});
  if (caller_ && !caller_->MayCall(path_)) {
    return Finish({Code::kPermissionDenied, fmt::format("{} may not call {}", caller_->identity, path_)});
  }
  method_ = &found->second;
  if (method_->stream) {
    boost::asio::co_spawn(session_->Executor(), RunStream(std::static_pointer_cast<ServerCall>(shared_from_this())),
                          boost::asio::detached);
  }
}

bool ServerCall::OnMessage(std::string message) {
  if (finished_) return true;
  const bool unary = method_ != nullptr && method_->unary != nullptr;
  if (unary && !messages_.empty()) {  // nobody would ever take them
    Finish({Code::kInvalidArgument, "one message is wanted"});
    return true;
  }
  if (reader_) {
    auto waiter = Take(reader_);
    std::move(*waiter).Resume(std::move(message));
    return true;
  }
  messages_.push_back(std::move(message));
  return unary;
}

void ServerCall::OnRemoteEnd() {
  remote_ended_ = true;
  if (finished_ || method_ == nullptr) return;
  if (!method_->unary) {
    if (!reader_) return;
    auto waiter = Take(reader_);
    return std::move(*waiter).Resume(std::nullopt);
  }
  if (messages_.size() != 1) return Finish({Code::kInvalidArgument, "one message is wanted"});
  auto self = std::static_pointer_cast<ServerCall>(shared_from_this());
  auto ended = [self](std::exception_ptr) {};  // the signal must live as long as the coroutine
  boost::asio::co_spawn(session_->Executor(), RunUnary(self, std::move(messages_.front())),
                        boost::asio::bind_cancellation_slot(stop_.slot(), std::move(ended)));
}

Task<> ServerCall::RunUnary(ServerCallPtr call, std::string request) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  UnaryReply reply;
  try {
    reply = co_await call->method_->unary(call, std::move(request));
  } catch (const std::exception& error) {
    if (!call->Gone()) log::Error("{} failed: {}", call->path_, error.what());
    reply.status = {Code::kInternal, error.what()};
  }
  call->Reply(reply);
}

Task<> ServerCall::RunStream(ServerCallPtr call) {
  try {
    co_await call->method_->stream(call);
  } catch (const std::exception& error) {
    log::Error("{} failed: {}", call->path_, error.what());
    call->Finish({Code::kInternal, error.what()});
  }
  call->Finish({Code::kUnknown, "the call was not answered"});
}

void ServerCall::Reply(const UnaryReply& reply) {
  if (finished_ || !IsOpen()) return;
  if (reply.status.ok()) {
    SendHead();
    Send(reply.message);
  }
  Finish(reply.status);
}

void ServerCall::SendHead() {
  if (std::exchange(head_sent_, true)) return;
  session_->Respond(*this, kHead, false);
}

Task<std::optional<std::string>> ServerCall::Read() {
  if (!messages_.empty()) {
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    if (messages_.empty()) ReleaseInput();
    co_return message;
  }
  if (remote_ended_ || finished_ || !IsOpen()) co_return std::nullopt;
  auto start = [this](Waiter<std::optional<std::string>> waiter) { reader_.emplace(std::move(waiter)); };
  co_return co_await Suspend<std::optional<std::string>>(std::move(start));
}

Task<bool> ServerCall::Write(Message message) {
  if (finished_ || !IsOpen()) co_return false;
  SendHead();
  if (!Send(message)) co_return false;
  message.clear();
  if (!Crowded()) co_return true;
  auto start = [this](Waiter<bool> waiter) { writer_.emplace(std::move(waiter)); };
  co_return co_await Suspend<bool>(std::move(start));
}

void ServerCall::Finish(const Status& status) {
  if (std::exchange(finished_, true) || !IsOpen()) return;
  cancelled_.clear();
  if (head_sent_) {
    End(Trailers(status));
  } else {
    Metadata head = kHead;
    for (auto& entry : Trailers(status)) head.push_back(std::move(entry));
    session_->Respond(*this, head, true);
  }
  if (!remote_ended_ && reader_) {
    auto waiter = Take(reader_);
    std::move(*waiter).Resume(std::nullopt);
  }
}

void ServerCall::OnCancel(std::function<void()> callback) {
  if (finished_) return;
  if (!IsOpen()) return callback();
  cancelled_.push_back(std::move(callback));
}

void ServerCall::OnClosed(std::uint32_t) {
  const auto alive = shared_from_this();
  const auto callbacks = std::exchange(cancelled_, {});
  if (!finished_) {
    for (const auto& callback : callbacks) callback();
    stop_.emit(boost::asio::cancellation_type::terminal);
  }
  auto reader = Take(reader_);
  auto writer = Take(writer_);
  if (reader) std::move(*reader).Resume(std::nullopt);
  if (writer) std::move(*writer).Resume(false);
}

void ServerCall::OnRoom() {
  if (!writer_) return;
  auto waiter = Take(writer_);
  std::move(*waiter).Resume(true);
}

}  // namespace apimesh::h2
