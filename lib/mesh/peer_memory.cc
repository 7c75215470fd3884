#include "lib/mesh/peer_memory.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"

namespace apimesh::mesh {
namespace {
constexpr std::chrono::seconds kForgetEvery{2};
}

void PeerMemory::Follow(const std::shared_ptr<PeerMemory>& self, const boost::asio::any_io_executor& executor,
                        const std::string& name) {
  const std::lock_guard lock(self->mutex_);
  if (name == self->name_) return;
  self->name_ = name;
  self->view_ = name.empty() ? nullptr : shared_memory::View::Open(name);
  if (name.empty()) return;
  log::Debug("memory of the peer process {}", self->view_ ? "is read in place" : "can't be mapped: answers are copied");
  if (self->view_) boost::asio::co_spawn(executor, ForgetUnused(self->view_), boost::asio::detached);
}

std::shared_ptr<const shared_memory::View> PeerMemory::View() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

Task<> PeerMemory::ForgetUnused(std::weak_ptr<const shared_memory::View> view) {
  for (;;) {
    co_await SleepFor(kForgetEvery);
    const auto live = view.lock();
    if (!live) co_return;
    live->ReleaseUnusedPages();
  }
}

}  // namespace apimesh::mesh
