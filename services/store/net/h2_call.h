#pragma once

// Private to the transport: one HTTP/2 stream as a gRPC call.

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "services/store/net/call.h"

typedef struct nghttp2_session nghttp2_session;

namespace apimesh::store {

class H2Call;

class H2CallOwner {
 public:
  virtual ~H2CallOwner() = default;
  virtual nghttp2_session* Session() = 0;
  virtual void WantsFlush() = 0;
  virtual void Drained(std::shared_ptr<H2Call> call) = 0;
};

class H2Call final : public Call, public std::enable_shared_from_this<H2Call> {
 public:
  H2Call(H2CallOwner& owner, std::int32_t stream_id) : owner_(&owner), stream_id_(stream_id) {}

  // Call
  void Send(std::string message) override;
  void Finish(Status status) override;
  bool Congested() const override { return congested_; }
  bool Closed() const override { return owner_ == nullptr; }

  // What the session reports.
  void AddHeader(std::string_view name, std::string_view value);
  void Start(const Routes& routes);
  void OnData(std::string_view bytes, std::size_t max_message_bytes);
  void OnHalfClose();
  void NotifyDrained();
  /// The stream is gone: lets the handler go and turns sending into nothing.
  void Detach();

  // What the session's writer takes.
  std::size_t Queued() const { return queued_; }
  bool Finished() const { return finished_; }
  void TakeQueued(std::size_t length, std::string& out);
  /// Sends grpc-status after the last message; false: plain HTTP, no trailers.
  bool SubmitTrailers();

 private:
  void Enqueue(std::string bytes);
  void SubmitHeaders(const char* content_type, int http_status);
  void Resume();
  void AnswerHttp(const Routes& routes);

  H2CallOwner* owner_;
  std::int32_t stream_id_;
  std::string path_, content_type_;
  std::string partial_;  // bytes of a message that is not complete yet
  std::unique_ptr<CallHandler> handler_;
  std::deque<std::string> queue_;
  std::size_t front_offset_ = 0;
  std::size_t queued_ = 0;
  bool headers_sent_ = false;
  bool finished_ = false;
  bool plain_http_ = false;
  bool congested_ = false;
  Status status_;
};

}  // namespace apimesh::store
