#include "lib/rpc/server_streams.h"

#include "lib/base/wakeup.h"
#include "lib/h2/typed_call.h"
#include "lib/rpc/delegate_proto.h"

namespace apimesh::rpc {
namespace {
// Large enough to cost little per byte, small enough to keep what is in flight for one stream low.
constexpr std::size_t kMessageBytes = 256 << 10;
}  // namespace

StreamWriter::StreamWriter(h2::ServerCallPtr call, std::shared_ptr<segment::Segment> segment)
    : call_(std::move(call)), segment_(std::move(segment)) {}

h2::Message StreamWriter::Chunk(const std::vector<SharedBytes>& pieces) {
  if (segment_ && !lease_) lease_ = segment_->NewLease();
  return lease_ ? EncodeLentChunk(*segment_, *lease_, pieces) : EncodeChunk(0, Headers(), pieces);
}

Task<bool> StreamWriter::WriteHead(int code, Headers headers) {
  if (Cancelled()) co_return false;
  co_return co_await call_->Write(EncodeChunk(code, headers, {}));
}

Task<bool> StreamWriter::Write(std::vector<SharedBytes> pieces) {
  std::vector<SharedBytes> message;
  std::size_t size = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    size += pieces[i].size();
    message.push_back(std::move(pieces[i]));
    if (size == 0 || (size < kMessageBytes && i + 1 < pieces.size())) continue;
    if (Cancelled()) co_return false;
    h2::Message chunk = Chunk(message);
    if (!co_await call_->Write(std::move(chunk))) co_return false;
    message.clear();
    size = 0;
  }
  co_return !Cancelled();
}

Task<bool> StreamWriter::WriteWhole(Response response) {
  if (Cancelled()) co_return false;
  h2::Message chunk = EncodeWholeChunk(response);
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
    h2::Message last = EncodeLastChunk();
    const bool sent = co_await self->call_->Write(std::move(last));
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
