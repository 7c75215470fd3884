#include "lib/rpc/server_streams.h"

#include "lib/rpc/delegate_proto.h"

namespace apimesh::rpc {
namespace {
// Large enough to cost little per byte, small enough to keep what is in flight for one stream low.
constexpr std::size_t kMessageBytes = 256 << 10;
}  // namespace

Task<bool> StreamWriter::WriteHead(int code, Headers headers) { return Send(EncodeChunk(code, headers, {})); }

Task<bool> StreamWriter::Write(std::vector<SharedBytes> pieces) {
  std::vector<SharedBytes> message;
  std::size_t size = 0;
  for (auto& piece : pieces) {
    size += piece.size();
    message.push_back(std::move(piece));
    if (size < kMessageBytes) continue;
    grpc::ByteBuffer chunk = EncodeChunk(0, Headers(), message);
    if (!co_await Send(std::move(chunk))) co_return false;
    message.clear();
    size = 0;
  }
  if (size == 0) co_return true;
  grpc::ByteBuffer chunk = EncodeChunk(0, Headers(), message);
  co_return co_await Send(std::move(chunk));
}

Task<bool> StreamWriter::Send(grpc::ByteBuffer message) {
  auto start = [this, message = std::move(message)](Waiter<bool> waiter) mutable {
    {
      std::unique_lock lock(mutex_);
      if (cancelled_) {
        lock.unlock();
        std::move(waiter).Resume(false);
        return;
      }
      waiter_.emplace(std::move(waiter));
      message_.Swap(&message);
    }
    StartWrite(&message_);
  };
  return Suspend<bool>(std::move(start));
}

void StreamWriter::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  auto waiter = Take(waiter_);
  lock.unlock();
  message_.Clear();
  std::move(*waiter).Resume(ok);
}

void StreamWriter::OnCancel(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!cancelled_) {
      cancel_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void StreamWriter::Abort() {
  std::lock_guard lock(mutex_);
  aborted_ = cancelled_ = true;
}

void StreamWriter::End() {
  std::unique_lock lock(mutex_);
  const bool aborted = aborted_;
  lock.unlock();
  Finish(aborted ? grpc::Status(grpc::StatusCode::ABORTED, "the answer is incomplete") : grpc::Status::OK);
}

void StreamWriter::Interrupt() {
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  const auto callbacks = std::exchange(cancel_, {});
  lock.unlock();
  for (const auto& callback : callbacks) callback();
}

/// What the handler holds. The call ends with it.
class ConnectReactor::Stream final : public ConnectStream {
 public:
  explicit Stream(std::shared_ptr<ConnectReactor> reactor) : reactor_(std::move(reactor)) {}
  ~Stream() override { Close(); }

  Task<bool> Answer(Response head) override {
    mesh::v1::ConnectFrame frame;
    *frame.mutable_response() = ToProto(head);
    return reactor_->Write(std::move(frame));
  }
  Task<meta::Result<std::string>> Read() override { return reactor_->Read(); }
  Task<bool> Write(std::string data) override {
    mesh::v1::ConnectFrame frame;
    frame.set_data(std::move(data));
    return reactor_->Write(std::move(frame));
  }
  void Close() override { reactor_->Close(); }

 private:
  const std::shared_ptr<ConnectReactor> reactor_;
};

ConnectReactor* ConnectReactor::New(SteadyTime deadline, Start start) {
  auto* reactor = new ConnectReactor(deadline, std::move(start));
  reactor->self_.reset(reactor);
  return reactor;
}

ConnectReactor::ConnectReactor(SteadyTime deadline, Start start) : deadline_(deadline), start_(std::move(start)) {
  StartRead(&incoming_);
}

Task<bool> ConnectReactor::Write(mesh::v1::ConnectFrame frame) {
  auto start = [this, frame = std::move(frame)](Waiter<bool> waiter) mutable {
    std::unique_lock lock(mutex_);
    if (finished_) {
      lock.unlock();
      std::move(waiter).Resume(false);
      return;
    }
    writer_.emplace(std::move(waiter));
    outgoing_ = std::move(frame);
    StartWrite(&outgoing_);  // under the lock: nothing may start after Finish()
  };
  return Suspend<bool>(std::move(start));
}

Task<meta::Result<std::string>> ConnectReactor::Read() {
  auto start = [this](Waiter<meta::Result<std::string>> waiter) {
    std::unique_lock lock(mutex_);
    if (finished_ || read_ended_) {
      lock.unlock();
      std::move(waiter).Resume(std::string());
      return;
    }
    reader_.emplace(std::move(waiter));
    StartRead(&incoming_);
  };
  return Suspend<meta::Result<std::string>>(std::move(start));
}

void ConnectReactor::OnReadDone(bool ok) {
  if (start_) {
    const Start start = std::exchange(start_, nullptr);
    if (!ok || !incoming_.has_request()) {
      FinishOnce({grpc::StatusCode::INVALID_ARGUMENT, "the first frame must have the request"});
      return;
    }
    Request request = FromProto(std::move(*incoming_.mutable_request()));
    request.deadline = deadline_;
    start(std::move(request), std::make_unique<Stream>(self_));
    return;
  }
  std::unique_lock lock(mutex_);
  auto reader = Take(reader_);
  read_ended_ = !ok || incoming_.close();
  lock.unlock();
  std::move(*reader).Resume(ok ? std::move(*incoming_.mutable_data()) : std::string());
}

void ConnectReactor::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  auto writer = Take(writer_);
  lock.unlock();
  std::move(*writer).Resume(ok);
}

void ConnectReactor::Close() { FinishOnce(grpc::Status::OK); }

void ConnectReactor::OnCancel() { FinishOnce(grpc::Status::CANCELLED); }

void ConnectReactor::FinishOnce(grpc::Status status) {
  std::lock_guard lock(mutex_);
  if (!std::exchange(finished_, true)) Finish(std::move(status));
}

void ConnectReactor::OnDone() { const auto self = std::move(self_); }

std::shared_ptr<DescribeReactor> DescribeReactor::New(DelegateHandler& handler,
                                                      std::function<void(DescribeReactor*)> done) {
  auto self = std::make_shared<DescribeReactor>();
  self->done_ = std::move(done);
  // The subscription must not keep the reactor alive: the handler may hold it for as long as it likes.
  auto changed = [weak = std::weak_ptr<DescribeReactor>(self)](Description description) {
    if (auto reactor = weak.lock()) reactor->Changed(std::move(description));
  };
  auto subscription = handler.Describe(std::move(changed));
  std::lock_guard lock(self->mutex_);
  self->subscription_ = std::move(subscription);
  return self;
}

void DescribeReactor::Changed(Description description) {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  if (writing_) {
    next_ = std::move(description);
    return;
  }
  writing_ = true;
  outgoing_ = ToProto(description);
  StartWrite(&outgoing_);  // under the lock: nothing may start after Finish()
}

void DescribeReactor::OnWriteDone(bool ok) {
  std::lock_guard lock(mutex_);
  writing_ = ok && next_ && !finished_;
  if (!writing_) return;
  outgoing_ = ToProto(*next_);
  next_.reset();
  StartWrite(&outgoing_);
}

void DescribeReactor::End(const grpc::Status& status) {
  std::shared_ptr<void> subscription;  // destroyed outside the lock: its owner may be calling Changed()
  std::lock_guard lock(mutex_);
  if (std::exchange(finished_, true)) return;
  subscription.swap(subscription_);
  Finish(status);
}

}  // namespace apimesh::rpc
