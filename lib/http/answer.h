#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/gzip/stream.h"
#include "lib/http/server.h"

namespace apimesh::http {

class Connection;
class RequestBody;

/// The response to one request on an HTTP/1.1 connection.
class AnswerWriter final : public ResponseWriter {
 public:
  /// The properties of the request that determine the response. The defaults are for a request that could not be
  /// parsed.
  struct Facts {
    bool head_only = false;
    bool http10 = false;
    bool keep_alive = false;
    bool accepts_gzip = false;
    static Facts Of(const Request& request, bool http10, bool keep_alive);
  };
  /// `body` is the body of the request and must outlive the answer; nullptr: nothing more can be read from the
  /// connection.
  AnswerWriter(std::shared_ptr<Connection> connection, Facts facts, RequestBody* body);
  ~AnswerWriter() override;

  bool HasBody() const override;
  bool BodyArrived() override;
  Task<BodyResult> ReadBody(BodyTerms terms) override;

  Task<bool> Send(int code, Headers headers, std::vector<SharedBytes> body) override;
  Task<bool> Start(int code, Headers headers, bool compress) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  bool TryWrite(const Chunk& chunk) override;
  Task<bool> Finish() override;
  bool HeadSent() const override { return head_sent_; }
  void Abort() override;
  Task<std::unique_ptr<RawConnection>> Upgrade(Headers headers) override;
  void OnDisconnect(std::function<void()> callback) override;

  bool Finished() const { return finished_; }
  bool KeepAlive() const { return facts_.keep_alive; }

 private:
  enum class Body { kNone, kLength, kChunked, kUntilClose };
  std::string Head(int code, const Headers& headers, Body body, std::size_t length);
  Task<bool> SendCompressed(int code, Headers headers, std::vector<SharedBytes> body);
  Task<bool> WriteChunk(std::vector<std::string_view> pieces, std::span<const SharedBytes> sources = {});
  /// Closes the connection, because bytes of the response were revoked. Returns false.
  bool Revoked();

  std::shared_ptr<Connection> connection_;
  Facts facts_;
  RequestBody* const body_;
  std::unique_ptr<gzip::Stream> gzip_;
  bool head_sent_ = false;
  bool finished_ = false;
  bool body_ignored_ = false;  // HEAD, 204, 304
};

}  // namespace apimesh::http
