#include "lib/storage/etcd_store/read_index.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace apimesh::storage {

Task<etcd::Result<etcd::Revision>> ReadIndex::Newest(SteadyTime deadline) {
  std::shared_ptr<Read> read;
  auto wakeup = Wakeup::New();
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    if (!next_) next_ = std::make_shared<Read>();
    read = next_;
    read->readers.push_back(wakeup);
    start = !std::exchange(running_, true);
  }
  // The loop ends when no reader waits; the next reader starts it again.
  if (start) boost::asio::co_spawn(executor_, Run(shared_from_this()), boost::asio::detached);
  const bool answered = co_await Wakeup::Wait(wakeup, deadline);
  if (!answered) {
    co_return etcd::Error{etcd::Error::Code::kDeadlineExceeded, "etcd did not return its revision in time"};
  }
  co_return *read->result;
}

Task<> ReadIndex::Run(std::shared_ptr<ReadIndex> self) {
  for (;;) {
    std::shared_ptr<Read> read;
    {
      const std::lock_guard lock(self->mutex_);
      read = std::exchange(self->next_, nullptr);
      if (!read) {
        self->running_ = false;
        co_return;
      }
    }
    etcd::RangeOptions options;
    options.count_only = true;
    options.deadline = self->clock_.Steady() + self->timeout_;
    auto range = co_await self->client_->Range(self->key_, std::move(options));
    read->result = range ? etcd::Result<etcd::Revision>(range->revision) : etcd::Result<etcd::Revision>(range.error());
    for (const auto& reader : read->readers) reader->Wake();
  }
}

}  // namespace apimesh::storage
