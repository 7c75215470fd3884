#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "lib/base/suspend.h"
#include "lib/h2/stream.h"
#include "lib/http/message_parser.h"
#include "lib/http/server.h"

namespace apimesh::h2 {

/// A plain HTTP request on a session, and its answer: what lib/http does over HTTP/1.1, for a front proxy that has many clients on one
/// connection. Nothing is compressed here and nothing can be upgraded.
class HttpCall final : public Stream, public http::ResponseWriter {
 public:
  HttpCall(std::shared_ptr<const http::Handler> handler, const http::Limits& limits)
      : Stream(Framing::kNone), handler_(std::move(handler)), limits_(limits) {}

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
  void OnHeadersDone() override { head_done_ = true; }
  bool OnMessage(std::string data) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnRoom() override;

  static Task<> Run(std::shared_ptr<HttpCall> self);
  http::ParseFailure Failure() const;
  void SendHead(int code, const http::Headers& headers, std::optional<std::size_t> length);
  bool Writable() const { return IsOpen() && !finished_; }

  const std::shared_ptr<const http::Handler> handler_;
  const http::Limits limits_;
  http::Request request_;
  std::size_t header_bytes_ = 0;
  bool head_done_ = false;
  bool too_large_ = false;
  bool started_ = false;
  bool head_only_ = false;  // HEAD: the answer has no body
  bool head_sent_ = false;
  bool finished_ = false;
  std::optional<Waiter<bool>> writer_;
  std::function<void()> on_disconnect_;
};

}  // namespace apimesh::h2
