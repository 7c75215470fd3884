#pragma once

#include <functional>
#include <optional>

#include "lib/base/async/suspend.h"
#include "lib/grpc/channel.h"
#include "lib/grpc/message.h"

namespace apimesh::grpc {

/// The client's end of a call. It must be used only on its link's thread.
class ClientStream final : public http2::Stream {
 public:
  ClientStream(std::string path, CallOptions options, const Clock& clock,
               std::size_t max_message_bytes = kMaxMessageBytes)
      : path_(std::move(path)), options_(std::move(options)), clock_(clock), message_reader_(max_message_bytes) {}

  /// The headers of the request. They refer to the arguments and to `this`, and are valid until the next call.
  http2::HeaderViews Head(std::string_view authority, bool tls);
  bool Ended() const { return status_.has_value(); }
  SteadyTime Deadline() const { return options_.deadline; }

  /// Makes this a unary call: `waiter` gets the response and the status. The request is sent with the head.
  void BecomeUnary(Message request, Waiter<UnaryResult> waiter);
  void Read(Waiter<std::optional<std::string>> waiter);
  void Write(Message message, Waiter<bool> waiter);
  void Post(Message message);
  void WritesDone();
  void Finish(Waiter<Status> waiter);
  /// Ends the call with this status, unless it has already ended.
  void Abandon(Status status);
  /// Called when the stream is open; sends the messages that were written before.
  void OnOpen();
  /// Sets the link that reopens the call, at most once, if the server has certainly not processed it.
  void SetLink(std::weak_ptr<Link> link) {
    link_ = std::move(link);
    may_retry_ = true;
  }

 private:
  void OnHeader(std::string_view name, std::string_view value) override;
  void OnData(std::string_view data) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnBelowLowWatermark() override;
  void OnMessage(std::string message);
  void Complete(Status status);
  bool SendNow(Message message);
  bool RetryElsewhere();
  void StopRetries();

  const std::string path_;
  std::string timeout_;
  const CallOptions options_;
  const Clock& clock_;
  bool opened_ = false;
  bool writes_done_ = false;
  bool may_retry_ = false;  // may be sent to another server, as long as this one has not responded
  std::weak_ptr<Link> link_;
  std::vector<Message> written_;  // messages written before the stream was open, and while the call may be sent again
  std::size_t sent_bytes_ = 0;    // the number of bytes that were sent of them
  MessageReader message_reader_;
  Fifo<std::string> messages_;
  std::optional<Status> status_;  // set when the call has ended
  std::optional<int> grpc_status_;
  std::string grpc_message_;
  int http_status_ = 0;
  bool is_unary_ = false;
  std::optional<Waiter<UnaryResult>> unary_;
  std::optional<Waiter<std::optional<std::string>>> reader_;
  std::optional<Waiter<bool>> writer_;
  std::optional<Waiter<Status>> finish_;
};

}  // namespace apimesh::grpc
