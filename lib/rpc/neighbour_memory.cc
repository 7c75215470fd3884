#include "lib/rpc/neighbour_memory.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "lib/base/log.h"
#include "lib/base/wakeup.h"

namespace apimesh::rpc {
namespace {
constexpr std::chrono::seconds kForgetEvery{2};
}

void NeighbourMemory::Follow(const std::shared_ptr<NeighbourMemory>& self, const boost::asio::any_io_executor& executor,
                             const std::string& name) {
  const std::lock_guard lock(self->mutex_);
  if (name == self->name_) return;
  self->name_ = name;
  self->view_ = name.empty() ? nullptr : segment::View::Open(name);
  if (name.empty()) return;
  log::Debug("memory of a neighbour {}", self->view_ ? "is read in place" : "can't be mapped: answers are copied");
  if (self->view_) boost::asio::co_spawn(executor, ForgetUnused(self->view_), boost::asio::detached);
}

std::shared_ptr<const segment::View> NeighbourMemory::View() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

Task<> NeighbourMemory::ForgetUnused(std::weak_ptr<const segment::View> view) {
  for (;;) {
    co_await SleepUntil(Clock::System().Steady() + kForgetEvery);
    const auto live = view.lock();
    if (!live) co_return;
    live->ForgetUnused();
  }
}

}  // namespace apimesh::rpc
