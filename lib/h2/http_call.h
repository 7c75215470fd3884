#pragma once

#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/suspend.h"
#include "lib/h2/stream.h"
#include "lib/http/body_budget.h"
#include "lib/http/message_parser.h"
#include "lib/http/server.h"

namespace apimesh::h2 {

/// A plain HTTP request on a session, and its answer: what lib/http does over HTTP/1.1, for a front proxy that has many clients on one
/// connection. Nothing is compressed here and nothing can be upgraded.
class HttpCall final : public Stream, public http::ResponseWriter {
 public:
  HttpCall(std::shared_ptr<const http::Handler> handler, const http::Limits& limits)
      : Stream(Framing::kNone), handler_(std::move(handler)), limits_(limits) {}

  // ---- the body of the request
  bool HasBody() const override { return !reading_ && (!remote_ended_ || !body_.empty()); }
  bool BodyArrived() override { return remote_ended_ || TooLarge(); }
  Task<meta::Result<std::string>> ReadBody(http::BodyTerms terms) override;

  // ---- the answer
  Task<bool> Send(int code, http::Headers headers, std::vector<SharedBytes> body) override;
  Task<bool> Start(int code, http::Headers headers, bool compress) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  bool TryWrite(const http::Chunk& chunk) override;
  Task<bool> Finish() override;
  bool HeadSent() const override { return head_sent_; }
  void Abort() override;
  Task<std::unique_ptr<http::RawConnection>> Upgrade(http::Headers headers) override;
  void OnDisconnect(std::function<void()> callback) override;

 private:
  // ---- the request
  void OnHeader(std::string_view name, std::string_view value) override;
  void OnHeadersDone(bool last) override;
  bool OnMessage(std::string data) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnRoom() override;

  static Task<> Run(std::shared_ptr<HttpCall> self);
  http::ParseFailure Failure() const;
  bool TooLarge() const { return body_.size() > limits_.body_bytes || announced_ > limits_.body_bytes; }
  void WakeReader();
  void SendHead(int code, const http::Headers& headers, std::optional<std::size_t> length);
  bool Writable() const { return IsOpen() && !finished_; }

  const std::shared_ptr<const http::Handler> handler_;
  const http::Limits limits_;
  http::Request request_;
  std::size_t header_bytes_ = 0;
  bool head_done_ = false;
  // Before it is read, flow control leaves the body with the client, except for a first piece.
  std::string body_;
  std::uint64_t announced_ = 0;  // by Content-Length
  http::BodyLease lease_;
  std::optional<boost::asio::steady_timer> reader_;  // waits for more of the body
  bool remote_ended_ = false;
  bool reading_ = false;  // it has been asked for
  bool head_only_ = false;  // HEAD: the answer has no body
  bool head_sent_ = false;
  bool finished_ = false;
  std::optional<Waiter<bool>> writer_;
  std::function<void()> on_disconnect_;
};

}  // namespace apimesh::h2
