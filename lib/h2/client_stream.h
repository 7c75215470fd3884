#pragma once

#include <functional>
#include <optional>

#include "lib/base/suspend.h"
#include "lib/h2/channel.h"

namespace apimesh::h2 {

/// The client's end of a call. On its link's thread only.
class ClientStream final : public Stream {
 public:
  ClientStream(std::string path, CallOptions options) : path_(std::move(path)), options_(std::move(options)) {}

  /// The request's head. It lies in what it is given and in `this`, until the next call.
  MetadataViews Head(std::string_view authority, bool tls);
  bool Ended() const { return status_.has_value(); }
  SteadyTime Deadline() const { return options_.deadline; }

  /// A unary call: `waiter` gets everything, once. The request goes out with the head.
  void BecomeUnary(Message request, Waiter<UnaryResult> waiter);
  void Read(Waiter<std::optional<std::string>> waiter);
  void Write(Message message, Waiter<bool> waiter);
  void Post(Message message);
  void WritesDone();
  void Finish(Waiter<Status> waiter);
  /// Ends the call with this status, if it has not ended.
  void Abandon(Status status);
  /// Messages may flow: what was given before goes out.
  void OnOpen();
  /// Who opens the call again, once, if a server has certainly not seen it.
  void SetLink(std::weak_ptr<Link> link) {
    link_ = std::move(link);
    may_move_ = true;
  }

 private:
  void OnHeader(std::string_view name, std::string_view value) override;
  bool OnMessage(std::string message) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnRoom() override;
  void Complete(Status status);
  bool SendNow(Message message);
  bool Move();
  void Stay();

  const std::string path_;
  std::string timeout_;
  const CallOptions options_;
  bool opened_ = false;
  bool writes_done_ = false;
  bool may_move_ = false;  // to another server; until this one is heard
  std::weak_ptr<Link> link_;
  std::vector<Message> written_;  // before there was a connection, and while the call may move
  std::size_t sent_bytes_ = 0;    // of them
  Fifo<std::string> messages_;
  std::optional<Status> status_;  // set: the call has ended
  std::optional<int> grpc_status_;
  std::string grpc_message_;
  int http_status_ = 0;
  bool is_unary_ = false;
  std::optional<Waiter<UnaryResult>> unary_;
  std::optional<Waiter<std::optional<std::string>>> reader_;
  std::optional<Waiter<bool>> writer_;
  std::optional<Waiter<Status>> finish_;
};

}  // namespace apimesh::h2
