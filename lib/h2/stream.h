#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/fifo.h"

namespace apimesh::h2 {

class Session;

/// The bytes of one message, in pieces that are not joined before the socket.
using Message = std::vector<SharedBytes>;
using Metadata = std::vector<std::pair<std::string, std::string>>;  // names in lower case
/// The same where it lies, for as long as the call that is given it.
using MetadataViews = std::vector<std::pair<std::string_view, std::string_view>>;

/// One call on a session, the client's or the server's end: whole messages in, whole messages out, flow control both
/// ways. Lives on the session's executor. Without gRPC's frames, a message is whatever bytes there are.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  virtual ~Stream() = default;

  /// Queues a message. False: the stream is closed for writing.
  bool Send(const Message& message);
  /// No more messages from us; a server ends with `trailers`.
  void End(Metadata trailers = {});
  /// Ends the stream both ways now; OnClosed() follows.
  void Reset(std::uint32_t error_code);
  /// More is queued than should be; OnRoom() tells when that is over.
  bool Crowded() const { return queued_ > kCrowded; }
  /// The receiver has taken all messages it was given: the other side may go on.
  void ReleaseInput();
  bool IsOpen() const { return session_ != nullptr; }

 protected:
  enum class Framing { kGrpc, kNone };
  explicit Stream(Framing framing = Framing::kGrpc) : framing_(framing) {}

  virtual void OnHeader(std::string_view name, std::string_view value) = 0;
  /// The head (first) or the trailers have come in whole. `last`: OnRemoteEnd() follows.
  virtual void OnHeadersDone(bool /*last*/) {}
  /// False: it is kept in mind that the receiver holds this message until ReleaseInput().
  virtual bool OnMessage(std::string message) = 0;
  /// No more messages from the other side.
  virtual void OnRemoteEnd() = 0;
  /// The last event. `error_code` is HTTP/2's; 0: both sides had ended.
  virtual void OnClosed(std::uint32_t error_code) = 0;
  virtual void OnRoom() {}

  /// After OnClosed(): as if nothing had ever been sent or received, so that another session can open it.
  void BeginAnew();

  Session* session_ = nullptr;  // while it is open

 private:
  friend class Session;
  static constexpr std::size_t kCrowded = 256 << 10;

  void Receive(std::string_view data);
  void ReceiveMessages(std::string_view data);

  const Framing framing_;
  std::int32_t id_ = 0;

  // In: a message under way, and bytes the other side may not send again until the receiver has caught up.
  std::string prefix_;
  std::string incoming_;
  std::size_t missing_ = 0;
  bool in_message_ = false;
  bool holding_ = false;
  std::size_t withheld_ = 0;

  // Out.
  struct Queued {
    SharedBytes bytes;
    std::array<char, 5> prefix{};  // of a message, before its first piece
    bool first = false;            // it is there

    std::size_t PrefixBytes() const { return first ? prefix.size() : 0; }
    std::size_t size() const { return PrefixBytes() + bytes.size(); }
  };
  Fifo<Queued> queue_;
  std::size_t front_offset_ = 0;
  std::size_t queued_ = 0;
  bool crowded_ = false;
  bool ended_ = false;
  Metadata trailers_;
};

}  // namespace apimesh::h2
