#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/http/server.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::aggregator {

/// The response to a request at the edge. It adds the headers that filters set, and records what was sent.
class Reply {
 public:
  explicit Reply(http::ResponseWriter& writer) : writer_(writer) {}

  /// Sets a header of the response, which replaces one of the same name.
  void SetHeader(std::string name, std::string value);

  /// The body of the request; see http::ResponseWriter.
  bool HasBody() const { return writer_.HasBody(); }
  bool BodyArrived() { return writer_.BodyArrived(); }
  Task<http::BodyResult> ReadBody(http::BodyTerms terms) { return writer_.ReadBody(std::move(terms)); }

  Task<bool> Send(int code, http::Headers headers, std::vector<SharedBytes> body);
  Task<bool> SendText(int code, std::string content_type, std::string text);
  Task<bool> SendError(meta::ApiError error);
  Task<bool> Start(int code, http::Headers headers, bool compress);
  Task<bool> Write(std::vector<SharedBytes> pieces);
  /// Writes the chunk if that is possible without waiting. If it returns false, the caller must call Write() with the
  /// chunk's body.
  bool TryWrite(const http::Chunk& chunk);
  Task<bool> Finish() { return writer_.Finish(); }
  Task<std::unique_ptr<http::RawConnection>> Upgrade(http::Headers headers);
  void Abort() { writer_.Abort(); }
  void OnDisconnect(std::function<void()> callback) { writer_.OnDisconnect(std::move(callback)); }

  /// `callback` runs once, before the head of the response is sent; the response waits for it. `whole`: the response is
  /// complete, not a stream or an upgraded connection. Code() and Body() are those of the response.
  using HeadFn = std::function<Task<>(bool whole)>;
  void BeforeHead(HeadFn callback) { before_head_ = std::move(callback); }

  bool HeadSent() const { return writer_.HeadSent(); }
  int Code() const { return code_; }  // 0: nothing sent yet
  std::size_t BodyBytes() const { return body_bytes_; }
  std::string_view ContentType() const { return content_type_; }  // of a body that is kept
  /// Which bodies are kept for the audit log: all but those of watches, or those that may be a Status.
  enum class Keep { kNothing, kStatus, kAll };
  /// Must be called before the response is sent.
  void KeepBody(Keep keep) { keep_ = keep; }
  const std::vector<SharedBytes>& Body() const { return body_; }

 private:
  http::Headers Complete(http::Headers headers) const;
  /// Returns whether the body of a response with this code and size is kept, if it is sent at once.
  bool Keeps(int code, std::size_t bytes) const;
  void KeepType(const http::Headers& headers);
  Task<bool> Broken();
  Task<bool> SendLater(http::Headers headers, std::vector<SharedBytes> body);
  Task<bool> StartLater(http::Headers headers, bool compress);
  Task<std::unique_ptr<http::RawConnection>> UpgradeLater(http::Headers headers);

  http::ResponseWriter& writer_;
  http::Headers extra_;
  HeadFn before_head_;
  std::vector<SharedBytes> body_;
  int code_ = 0;
  std::size_t body_bytes_ = 0;
  Keep keep_ = Keep::kNothing;
  bool keep_stream_ = false;  // a stream is being kept
  std::string content_type_;
};

}  // namespace apimesh::aggregator
