#include "lib/storage/entry/encodings.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace apimesh::storage {
namespace {

/// All instances of the process that hold an encoding.
struct Inventory {
  std::atomic<std::size_t> bytes = 0;
  std::atomic<std::uint32_t> sweep = 1;
  std::mutex mutex;
  std::vector<std::weak_ptr<Encodings>> filled;  // guarded by mutex
  SteadyTime last_sweep{};                       // guarded by mutex
};

Inventory& TheInventory() {
  static auto* const inventory = new Inventory();  // never destroyed: entries may outlive static objects
  return *inventory;
}

std::size_t Cost(const SharedBytes& bytes, std::string_view name) { return bytes.size() + name.size() + 112; }

/// Returns the part of a name up to and including '#', or "" if it has none.
std::string_view Family(std::string_view name) { return name.substr(0, name.find('#') + 1); }

}  // namespace

Encodings::~Encodings() {
  std::size_t bytes = 0;
  for (const Encoding& encoding : encodings_) bytes += Cost(encoding.bytes, encoding.name);
  TheInventory().bytes -= bytes;
}

SharedBytes Encodings::Find(std::string_view name, WallTime now) {
  const std::lock_guard lock(mutex_);
  for (Encoding& encoding : encodings_) {
    if (encoding.name != name || !encoding.valid.At(now)) continue;
    encoding.sweep = TheInventory().sweep.load(std::memory_order_relaxed);
    return encoding.bytes;
  }
  return {};
}

bool Encodings::HasRoom(std::size_t bytes) { return TheInventory().bytes + bytes <= kBudget; }

/// Removes the least recently used encoding if the family is full. The caller frees it after it has released the lock.
Encodings::Encoding Encodings::TakeLeastRecentlyUsed(std::string_view family) {
  const auto related = [family](const Encoding& encoding) { return Family(encoding.name) == family; };
  if (family.empty() || std::count_if(encodings_.begin(), encodings_.end(), related) < kMaxPerFamily) return {};
  auto oldest = encodings_.end();
  for (auto encoding = encodings_.begin(); encoding != encodings_.end(); ++encoding) {
    if (related(*encoding) && (oldest == encodings_.end() || encoding->sweep < oldest->sweep)) oldest = encoding;
  }
  Encoding taken = std::move(*oldest);
  encodings_.erase(oldest);
  TheInventory().bytes -= Cost(taken.bytes, taken.name);
  return taken;
}

SharedBytes Encodings::Keep(std::string_view name, SharedBytes bytes, Validity valid) {
  Inventory& inventory = TheInventory();
  Encoding replaced;  // freed after the lock is released
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t cost = Cost(bytes, name);
    for (Encoding& encoding : encodings_) {
      if (encoding.name != name) continue;
      if (encoding.valid.At(valid.from)) return encoding.bytes;
      // The new encoding has about the same size, so the budget is not checked again.
      inventory.bytes += cost - Cost(encoding.bytes, name);
      replaced.bytes = std::exchange(encoding.bytes, bytes);
      encoding.valid = valid;
      encoding.sweep = inventory.sweep.load(std::memory_order_relaxed);
      return bytes;
    }
    first = encodings_.empty();
    replaced = TakeLeastRecentlyUsed(Family(name));
    if (inventory.bytes.fetch_add(cost) + cost > kBudget) {
      inventory.bytes -= cost;
      return bytes;
    }
    encodings_.push_back({std::string(name), bytes, valid, inventory.sweep.load(std::memory_order_relaxed)});
  }
  if (first) {
    const std::lock_guard lock(inventory.mutex);
    inventory.filled.push_back(weak_from_this());
  }
  return bytes;
}

bool Encodings::DropUnused(std::uint32_t sweep) {
  std::vector<Encoding> dropped;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto used = [sweep](const Encoding& encoding) { return encoding.sweep >= sweep; };
  const auto unused = std::stable_partition(encodings_.begin(), encodings_.end(), used);
  std::move(unused, encodings_.end(), std::back_inserter(dropped));
  encodings_.erase(unused, encodings_.end());
  for (const Encoding& encoding : dropped) TheInventory().bytes -= Cost(encoding.bytes, encoding.name);
  return !encodings_.empty();
}

void Encodings::SweepUnused(SteadyTime now) {
  Inventory& inventory = TheInventory();
  std::vector<std::weak_ptr<Encodings>> filled;
  std::uint32_t ended = 0;
  {
    const std::lock_guard lock(inventory.mutex);
    if (now - inventory.last_sweep < kSweepInterval) return;
    inventory.last_sweep = now;
    ended = inventory.sweep.fetch_add(1);
    filled.swap(inventory.filled);
  }
  std::erase_if(filled, [ended](const std::weak_ptr<Encodings>& weak) {
    const std::shared_ptr<Encodings> encodings = weak.lock();
    return !encodings || !encodings->DropUnused(ended);
  });
  const std::lock_guard lock(inventory.mutex);
  inventory.filled.insert(inventory.filled.end(), std::make_move_iterator(filled.begin()),
                          std::make_move_iterator(filled.end()));
}

std::size_t Encodings::Total() { return TheInventory().bytes; }

}  // namespace apimesh::storage
