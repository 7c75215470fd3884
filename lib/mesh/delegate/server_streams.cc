#include "lib/mesh/delegate/server_streams.h"

#include "lib/base/async/wakeup.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/delegate/delegate_proto.h"

namespace apimesh::mesh {
namespace {
// Large enough for a low cost per byte, small enough to limit the bytes in flight per stream.
constexpr std::size_t kMessageBytes = 256 << 10;
// Sharing a piece costs almost nothing, so a message may describe more bytes.
constexpr std::size_t kSharedMessageBytes = 1 << 20;
// A shorter response is sent, not shared: sharing costs one more message, with which the reader releases the memory.
constexpr std::size_t kMinSharedResponse = 64 << 10;
}  // namespace

StreamWriter::StreamWriter(grpc::ServerCallPtr call, std::shared_ptr<shared_memory::Segment> segment)
    : call_(std::move(call)), segment_(std::move(segment)) {}

bool StreamWriter::HasLease() {
  if (segment_ && !lease_) lease_ = segment_->NewLease();
  return lease_ != nullptr;
}

grpc::Message StreamWriter::Chunk(std::vector<SharedBytes> pieces) {
  return HasLease() ? EncodeSharedChunk(*segment_, *lease_, std::move(pieces)) : EncodeChunk(0, Headers(), pieces);
}

std::size_t StreamWriter::Travels(const SharedBytes& piece) const {
  const bool shares = segment_ && (!lease_ || lease_->Kept() < kMaxSharedPieces);
  return shares && SharablePosition(*segment_, piece.View()) ? 0 : piece.size();
}

std::size_t StreamWriter::PieceBytes() const { return segment_ ? kSharedMessageBytes : kMessageBytes; }

Task<bool> StreamWriter::WriteHead(int code, Headers headers) {
  if (Cancelled()) co_return false;
  const std::vector<SharedBytes> no_body;
  grpc::Message head = EncodeChunk(code, headers, no_body);
  co_return co_await call_->Write(std::move(head));
}

Task<bool> StreamWriter::Write(std::vector<SharedBytes> pieces) {
  std::erase_if(pieces, [](const SharedBytes& piece) { return piece.empty(); });
  std::vector<SharedBytes> message;
  std::size_t size = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    size += Travels(pieces[i]);
    message.push_back(std::move(pieces[i]));
    if (size < kMessageBytes && i + 1 < pieces.size()) continue;
    if (Cancelled()) co_return false;
    grpc::Message chunk = Chunk(std::exchange(message, {}));
    if (!co_await call_->Write(std::move(chunk))) co_return false;
    size = 0;
  }
  co_return !Cancelled();
}

Task<bool> StreamWriter::WriteComplete(Response response) {
  if (Cancelled()) co_return false;
  std::size_t size = 0, travels = 0;
  for (const SharedBytes& piece : response.body) {
    size += piece.size();
    travels += Travels(piece);
  }
  if (travels > kMessageBytes)
    co_return co_await ResponseStream::WriteComplete(std::move(response));  // too large for one message
  complete_ = true;
  const bool shares = size >= kMinSharedResponse && travels < size && HasLease();
  grpc::Message chunk = shares ? EncodeSharedChunk(*segment_, *lease_, std::exchange(response.body, {}), &response)
                               : EncodeCompleteChunk(response);
  co_return co_await call_->Write(std::move(chunk));
}

Task<bool> StreamWriter::WriteEvents(std::vector<SharedBytes> pieces, ResumePosition position) {
  std::size_t size = 0;
  for (const SharedBytes& piece : pieces) size += piece.size();
  if (size > kMessageBytes) {  // the resume position is sent after the last of several messages
    const bool written = co_await Write(std::move(pieces));
    if (!written) co_return false;
    pieces.clear();
  }
  if (Cancelled()) co_return false;
  grpc::Message chunk = EncodeChunk(0, Headers(), pieces, position);
  const bool written = co_await call_->Write(std::move(chunk));
  co_return written && !Cancelled();
}

bool StreamWriter::Cancelled() {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void StreamWriter::OnCancel(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!cancelled_) {
      cancel_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void StreamWriter::Abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = cancelled_ = true;
}

Task<> StreamWriter::End(std::shared_ptr<StreamWriter> self) {
  std::unique_lock lock(self->mutex_);
  const bool aborted = self->aborted_;
  lock.unlock();
  if (self->lease_ && !aborted) {
    const auto done = Wakeup::New();
    self->call_->OnCancel([done] { done->Wake(); });
    bool sent = self->complete_;
    if (!sent) {
      grpc::Message last = EncodeLastChunk();
      sent = co_await self->call_->Write(std::move(last));
    }
    if (sent) co_await Wakeup::Wait(done);
  }
  self->lease_.reset();
  grpc::Status status;
  if (aborted) status = {grpc::Code::kAborted, "the answer is incomplete"};
  self->call_->Finish(status);
}

void StreamWriter::Interrupt() {
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  const auto callbacks = std::exchange(cancel_, {});
  lock.unlock();
  for (const auto& callback : callbacks) callback();
}

Task<bool> ConnectEnd::Answer(Response head) {
  mesh::v1::ConnectFrame frame;
  *frame.mutable_response() = ToProto(head);
  return call_->Write(grpc::Pack(frame));
}

Task<meta::Result<std::string>> ConnectEnd::Read() {
  if (remote_closed_) co_return std::string();
  const std::optional<std::string> bytes = co_await call_->Read();
  mesh::v1::ConnectFrame frame;
  if (!bytes || !frame.ParseFromString(*bytes)) co_return std::string();
  remote_closed_ = frame.close();
  co_return std::move(*frame.mutable_data());
}

Task<bool> ConnectEnd::Write(std::string data) {
  mesh::v1::ConnectFrame frame;
  frame.set_data(std::move(data));
  return call_->Write(grpc::Pack(frame));
}

void ConnectEnd::Close() {
  grpc::Status ok;
  call_->Finish(ok);
}

}  // namespace apimesh::mesh
