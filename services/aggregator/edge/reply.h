#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/http/server.h"
#include "lib/meta/api_error.h"
#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

/// The answer to a request at the edge: adds the headers that filters collected, and remembers what was sent.
class Reply {
 public:
  explicit Reply(http::ResponseWriter& writer) : writer_(writer) {}

  /// Set on whatever answer follows, instead of one of the same name.
  void SetHeader(std::string name, std::string value);

  /// The body of the request; see http::ResponseWriter.
  bool HasBody() const { return writer_.HasBody(); }
  bool BodyArrived() { return writer_.BodyArrived(); }
  Task<meta::Result<std::string>> ReadBody(http::BodyTerms terms) { return writer_.ReadBody(std::move(terms)); }

  Task<bool> Send(int code, http::Headers headers, std::vector<SharedBytes> body);
  Task<bool> SendText(int code, std::string content_type, std::string text);
  Task<bool> SendError(meta::ApiError error);
  Task<bool> Start(int code, http::Headers headers, bool compress);
  Task<bool> Write(std::vector<SharedBytes> pieces);
  /// As much of Write() as can be done without waiting. False: Write() must follow, with the chunk's body.
  bool TryWrite(const http::Chunk& chunk);
  Task<bool> Finish() { return writer_.Finish(); }
  Task<std::unique_ptr<http::RawConnection>> Upgrade(http::Headers headers);
  bool Guard(std::function<bool()> intact) { return writer_.Guard(std::move(intact)); }
  void Abort() { writer_.Abort(); }
  void OnDisconnect(std::function<void()> callback) { writer_.OnDisconnect(std::move(callback)); }

  /// Runs once when a streamed or upgraded answer begins.
  void OnStart(std::function<void()> callback) { on_start_ = std::move(callback); }

  bool HeadSent() const { return writer_.HeadSent(); }
  int Code() const { return code_; }  // 0: nothing sent yet
  std::size_t BodyBytes() const { return body_bytes_; }
  /// The body of a whole answer, kept for the audit log if asked before it was sent.
  void KeepBody() { keep_body_ = true; }
  const std::vector<SharedBytes>& Body() const { return body_; }

 private:
  http::Headers Complete(http::Headers headers) const;
  void Started(int code);

  http::ResponseWriter& writer_;
  http::Headers extra_;
  std::function<void()> on_start_;
  std::vector<SharedBytes> body_;
  int code_ = 0;
  std::size_t body_bytes_ = 0;
  bool keep_body_ = false;
};

}  // namespace apimesh::aggregator
