#include "lib/storage/etcd_store/compactor.h"

#include <charconv>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"

namespace apimesh::storage {
namespace {
constexpr const char* kKey = "compact_rev_key";
constexpr auto kTimeout = std::chrono::seconds(30);
}  // namespace

Task<> RunCompactor(SharedPtr shared) {
  etcd::Revision known = 0;   // mod revision of the key at the last look
  etcd::Revision target = 0;  // the store's revision one interval ago
  for (;;) {
    co_await SleepFor(shared->options.compaction_interval);
    const SteadyTime deadline = shared->options.clock.Steady() + kTimeout;
    etcd::CompareAndSwap swap;
    swap.key = kKey;
    swap.expected_mod_revision = known;
    swap.value = std::to_string(target);
    swap.deadline = deadline;
    auto swapped = co_await shared->client->Swap(std::move(swap));
    if (!swapped) continue;
    if (!swapped->swapped) {
      // Another process compacts. If it does not do so in the next interval, this process takes over.
      if (!swapped->current.empty()) known = swapped->current[0].mod_revision;
      target = swapped->revision;
      continue;
    }
    known = swapped->revision;
    const etcd::Revision compact = std::exchange(target, swapped->revision);
    if (compact == 0) continue;
    const auto done = co_await shared->client->Compact(compact, deadline);
    if (!done && done.error().code != etcd::Error::Code::kCompacted) {
      log::Warning("etcd was not compacted to revision {}: {}", compact, done.error().message);
    }
  }
}

}  // namespace apimesh::storage
