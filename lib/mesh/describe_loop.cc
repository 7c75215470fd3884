#include "lib/mesh/describe_loop.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "lib/grpc/typed_call.h"
#include "lib/mesh/delegate/description_changes.h"
#include "lib/mesh/methods.h"

namespace apimesh::mesh {
namespace {
constexpr auto kRetryAfter = std::chrono::milliseconds(50);
}

std::shared_ptr<void> DescribeLoop::Start(std::shared_ptr<grpc::Channel> channel, boost::asio::any_io_executor executor,
                                          Changed changed) {
  auto loop = std::make_shared<DescribeLoop>(std::move(changed));
  boost::asio::co_spawn(executor, Run(loop, std::move(channel)), boost::asio::detached);
  return {nullptr, [loop](void*) { loop->Stop(); }};
}

Task<> DescribeLoop::Run(std::shared_ptr<DescribeLoop> self, std::shared_ptr<grpc::Channel> channel) {
  while (self->Wanted()) {
    co_await self->Follow(channel);
    self->Report(std::nullopt);
    if (self->Wanted()) co_await SleepFor(kRetryAfter);
  }
}

Task<> DescribeLoop::Follow(std::shared_ptr<grpc::Channel> channel) {
  grpc::ClientCall call = co_await channel->Open(methods::kDescribe, grpc::CallOptions());
  {
    const std::lock_guard lock(mutex_);
    cancel_ = call.Canceller();
  }
  mesh::v1::DescribeRequest request;
  request.set_accepts_changes(true);
  co_await call.Write(grpc::Pack(request));
  call.WritesDone();
  std::optional<Description> known;
  for (;;) {
    auto description = co_await grpc::ReadAs<mesh::v1::Description>(call);
    if (!description) co_return;
    known = FromProto(std::move(*description), known);
    if (!known) co_return;
    Report(known);
  }
}

bool DescribeLoop::Wanted() {
  const std::lock_guard lock(report_mutex_);
  return changed_ != nullptr;
}

void DescribeLoop::Stop() {
  {
    std::lock_guard lock(report_mutex_);
    changed_ = nullptr;
  }
  std::unique_lock lock(mutex_);
  const auto cancel = std::exchange(cancel_, nullptr);
  lock.unlock();
  if (cancel) cancel();
}

void DescribeLoop::Report(std::optional<Description> description) {
  std::lock_guard lock(report_mutex_);
  if (!changed_ || (!description && !known_)) return;
  known_ = description.has_value();
  const auto changed = changed_;  // a copy: the callback may drop the handle, which clears changed_
  changed(std::move(description));
}

}  // namespace apimesh::mesh
