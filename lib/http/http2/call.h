#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/base/async/suspend.h"
#include "lib/gzip/stream.h"
#include "lib/http/body_budget.h"
#include "lib/http/http2/calls.h"
#include "lib/http/http2/request_head.h"
#include "lib/http/server.h"
#include "lib/http2/session.h"

namespace apimesh::http {

/// An HTTP/2 request and its response, for the same handlers as HTTP/1.1. A connection cannot be upgraded.
class Http2Call final : public http2::Stream, public ResponseWriter {
 public:
  /// `executor` belongs to the connection; it must live as long as the stream is open.
  Http2Call(const boost::asio::any_io_executor& executor, std::shared_ptr<Http2Calls> calls);
  ~Http2Call() override;

  // ---- the body of the request
  bool HasBody() const override { return !reading_ && (!remote_ended_ || !body_.empty()); }
  bool BodyArrived() override { return remote_ended_ || TooLarge(); }
  Task<BodyResult> ReadBody(BodyTerms terms) override;

  // ---- the response
  Task<bool> Send(int code, Headers headers, std::vector<SharedBytes> body) override;
  Task<bool> Start(int code, Headers headers, bool compress) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  bool TryWrite(const Chunk& chunk) override;
  Task<bool> Finish() override;
  bool HeadSent() const override { return head_sent_; }
  void Abort() override;
  Task<std::unique_ptr<RawConnection>> Upgrade(Headers headers) override;
  void OnDisconnect(std::function<void()> callback) override;

  // ---- for Http2Calls
  std::shared_ptr<Http2Call> Self() { return std::static_pointer_cast<Http2Call>(shared_from_this()); }
  /// The bytes of the response that wait for the client.
  std::size_t Unread() const { return IsOpen() ? QueuedBytes() : 0; }
  /// Returns false if the head is incomplete for too long.
  bool CheckHead(SteadyTime now);
  /// Resets the stream if nothing of the response was sent for `stall_limit`, or if the response was sent and the
  /// client still sends the request. Returns false if it does.
  bool CheckProgress(SteadyTime now, std::chrono::milliseconds stall_limit);

 private:
  // ---- the request
  void OnHeader(std::string_view name, std::string_view value) override;
  void OnHeadersDone(bool last) override;
  void OnData(std::string_view data) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnBelowLowWatermark() override;

  static Task<> Run(std::shared_ptr<Http2Call> self);
  const Limits& GetLimits() const { return calls_->GetLimits(); }
  const Clock& GetClock() const { return calls_->Shared().clock; }
  bool TooLarge() const {
    return body_.size() > GetLimits().body_bytes || head_.Length().value_or(0) > GetLimits().body_bytes;
  }
  Task<bool> LeaseBody(std::string owner);
  void WakeReader();
  /// `length`: of the complete body; nullopt if it is not known yet. `last`: the response has no body.
  void SendHead(int code, const Headers& headers, std::optional<std::size_t> length, bool last);
  Task<bool> SendCompressed(int code, Headers headers, std::vector<SharedBytes> body);
  bool Compresses(int code, const Headers& headers) const;
  Task<bool> WriteCopies(SharedBytes piece);
  Task<bool> Queue(std::vector<SharedBytes> pieces);
  bool Writable() const { return IsOpen() && !finished_; }

  const boost::asio::any_io_executor& executor_;
  const std::shared_ptr<Http2Calls> calls_;
  Http2RequestHead head_;
  std::size_t held_head_bytes_ = 0;
  bool head_done_ = false, malformed_ = false;
  // Until the handler reads the body, flow control keeps all but its first piece at the client.
  std::string body_;
  std::uint64_t received_ = 0;  // bytes of the body
  BodyLease lease_;
  std::size_t small_body_bytes_ = 0;
  std::optional<boost::asio::steady_timer> reader_;  // waits for more body bytes
  bool remote_ended_ = false;
  bool reading_ = false;       // ReadBody() was called
  bool head_only_ = false;     // HEAD: the response has no body
  bool accepts_gzip_ = false;  // the client does
  bool head_sent_ = false;
  bool finished_ = false;
  std::unique_ptr<gzip::Stream> gzip_;
  std::optional<Waiter<bool>> writer_;
  std::function<void()> on_disconnect_;
  // What CheckProgress() has seen.
  std::uint64_t written_ = 0;       // bytes of the response
  std::uint64_t seen_sent_ = 0;     // those that the session had sent
  std::optional<SteadyTime> seen_;  // since when nothing has changed
};

}  // namespace apimesh::http
