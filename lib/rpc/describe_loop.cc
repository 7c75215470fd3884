#include "lib/rpc/describe_loop.h"

#include <grpcpp/client_context.h>

#include "lib/rpc/delegate_proto.h"

namespace apimesh::rpc {
namespace {
constexpr auto kRetryAfter = std::chrono::milliseconds(100);
}

/// One stream; deletes itself at its end.
class DescribeLoop::Reader final : public grpc::ClientReadReactor<mesh::v1::Description> {
 public:
  explicit Reader(std::shared_ptr<DescribeLoop> loop) : loop_(std::move(loop)) {
    // Waiting for the server is this call's whole purpose while it is down.
    context_.set_wait_for_ready(true);
    loop_->stub_->async()->Describe(&context_, &request_, this);
    StartRead(&message_);
  }
  grpc::ClientContext& Context() { return context_; }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    loop_->Report(FromProto(std::move(message_)));
    StartRead(&message_);
  }
  void OnDone(const grpc::Status&) override {
    const auto loop = loop_;
    {
      std::lock_guard lock(loop->mutex_);
      loop->context_ = nullptr;
    }
    delete this;
    loop->OnEnd();
  }

 private:
  const std::shared_ptr<DescribeLoop> loop_;
  grpc::ClientContext context_;
  mesh::v1::DescribeRequest request_;
  mesh::v1::Description message_;
};

DescribeLoop::DescribeLoop(std::shared_ptr<grpc::Channel> channel, Changed changed)
    : channel_(std::move(channel)), stub_(mesh::v1::Delegate::NewStub(channel_)), changed_(std::move(changed)) {}

std::shared_ptr<void> DescribeLoop::Start(std::shared_ptr<grpc::Channel> channel, Changed changed) {
  auto loop = std::make_shared<DescribeLoop>(std::move(channel), std::move(changed));
  loop->Open();
  return {nullptr, [loop](void*) { loop->Stop(); }};
}

void DescribeLoop::Open() {
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  auto* reader = new Reader(shared_from_this());
  context_ = &reader->Context();
  reader->StartCall();
}

void DescribeLoop::Stop() {
  {
    std::lock_guard lock(report_mutex_);
    changed_ = nullptr;
  }
  std::lock_guard lock(mutex_);
  stopped_ = true;
  if (context_ != nullptr) context_->TryCancel();
  retry_.Cancel();
}

void DescribeLoop::Report(std::optional<Description> description) {
  std::lock_guard lock(report_mutex_);
  if (!changed_ || (!description && !known_)) return;
  known_ = description.has_value();
  const auto changed = changed_;  // a copy: the callback may drop the handle, which clears changed_
  changed(std::move(description));
}

void DescribeLoop::OnEnd() {
  Report(std::nullopt);
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  retry_.Set(std::chrono::system_clock::now() + kRetryAfter, [self = shared_from_this()](bool ok) {
    if (ok) self->Open();
  });
}

}  // namespace apimesh::rpc
