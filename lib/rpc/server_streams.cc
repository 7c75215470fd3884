#include "lib/rpc/server_streams.h"

#include "lib/base/wakeup.h"
#include "lib/h2/typed_call.h"
#include "lib/rpc/delegate_proto.h"

namespace apimesh::rpc {
namespace {
// Large enough to cost little per byte, small enough to keep what is in flight for one stream low.
constexpr std::size_t kMessageBytes = 256 << 10;
// What is lent costs next to nothing, so more of it can be told at once.
constexpr std::size_t kLentMessageBytes = 1 << 20;
// A shorter answer is sent sooner than lent: lending takes one more message, by which its reader gives it back.
constexpr std::size_t kWorthLending = 64 << 10;
}  // namespace

StreamWriter::StreamWriter(h2::ServerCallPtr call, std::shared_ptr<segment::Segment> segment)
    : call_(std::move(call)), segment_(std::move(segment)) {}

bool StreamWriter::HasLease() {
  if (segment_ && !lease_) lease_ = segment_->NewLease();
  return lease_ != nullptr;
}

h2::Message StreamWriter::Chunk(std::vector<SharedBytes> pieces) {
  return HasLease() ? EncodeLentChunk(*segment_, *lease_, std::move(pieces)) : EncodeChunk(0, Headers(), pieces);
}

std::size_t StreamWriter::Travels(const SharedBytes& piece) const {
  const bool lends = segment_ && (!lease_ || lease_->Kept() < kMostLent);
  return lends && LendablePlace(*segment_, piece.View()) ? 0 : piece.size();
}

std::size_t StreamWriter::PieceBytes() const { return segment_ ? kLentMessageBytes : kMessageBytes; }

Task<bool> StreamWriter::WriteHead(int code, Headers headers) {
  if (Cancelled()) co_return false;
  co_return co_await call_->Write(EncodeChunk(code, headers, {}));
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
    h2::Message chunk = Chunk(std::exchange(message, {}));
    if (!co_await call_->Write(std::move(chunk))) co_return false;
    size = 0;
  }
  co_return !Cancelled();
}

Task<bool> StreamWriter::WriteWhole(Response response) {
  if (Cancelled()) co_return false;
  std::size_t size = 0, travels = 0;
  for (const SharedBytes& piece : response.body) {
    size += piece.size();
    travels += Travels(piece);
  }
  if (travels > kMessageBytes) co_return co_await ResponseStream::WriteWhole(std::move(response));  // too much for one message after all
  whole_ = true;
  const bool lends = size >= kWorthLending && travels < size && HasLease();
  h2::Message chunk = lends ? EncodeLentChunk(*segment_, *lease_, std::exchange(response.body, {}), &response) : EncodeWholeChunk(response);
  co_return co_await call_->Write(std::move(chunk));
}

Task<bool> StreamWriter::WriteEvents(std::vector<SharedBytes> pieces, WatchPlace place) {
  std::size_t size = 0;
  for (const SharedBytes& piece : pieces) size += piece.size();
  if (size > kMessageBytes) {  // the place comes after the last of several messages
    const bool written = co_await Write(std::move(pieces));
    if (!written) co_return false;
    pieces.clear();
  }
  if (Cancelled()) co_return false;
  h2::Message chunk = EncodeChunk(0, Headers(), pieces, place);
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
    bool sent = self->whole_;
    if (!sent) {
      h2::Message last = EncodeLastChunk();
      sent = co_await self->call_->Write(std::move(last));
    }
    if (sent) co_await Wakeup::Wait(done);
  }
  self->lease_.reset();
  h2::Status status;
  if (aborted) status = {h2::Code::kAborted, "the answer is incomplete"};
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
  return call_->Write(h2::Pack(frame));
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
  return call_->Write(h2::Pack(frame));
}

void ConnectEnd::Close() {
  h2::Status ok;
  call_->Finish(ok);
}

}  // namespace apimesh::rpc
