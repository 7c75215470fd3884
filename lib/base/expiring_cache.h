#pragma once

#include <list>
#include <unordered_map>
#include <utility>

#include "lib/base/clock.h"
#include "lib/base/hash/keyed_hash.h"

namespace apimesh {

/// A cache of values that are valid until a point in time, bounded by bytes. A full cache drops its oldest entries
/// first. Not thread-safe.
template <class Value>
class ExpiringCache {
 public:
  explicit ExpiringCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// nullptr if the key is absent or expired. The pointer is valid until the next call.
  const Value* Find(const Digest& key, SteadyTime now) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    if (now < found->second->until) return &found->second->value;
    Erase(found->second);
    return nullptr;
  }

  /// `value_bytes` is the memory that the value refers to, besides sizeof(Value). A value that would take more than
  /// 1/64 of the cache is not kept, so that a few large values cannot displace all others.
  void Put(const Digest& key, Value value, std::size_t value_bytes, SteadyTime until, SteadyTime now) {
    if (const auto found = index_.find(key); found != index_.end()) Erase(found->second);
    const std::size_t bytes = value_bytes + sizeof(Entry) + kOverhead;
    if (until <= now || bytes > max_bytes_ / kLargestShare) return;
    DropExpired(now);
    while (bytes_ + bytes > max_bytes_) Erase(entries_.begin());
    const auto position = entries_.insert(entries_.end(), Entry{key, std::move(value), bytes, until});
    index_.emplace(key, position);
    bytes_ += bytes;
  }

  void Remove(const Digest& key) {
    if (const auto found = index_.find(key); found != index_.end()) Erase(found->second);
  }

  /// Drops the oldest entries up to the first one that is still valid.
  void DropExpired(SteadyTime now) {
    while (!entries_.empty() && entries_.front().until <= now) Erase(entries_.begin());
  }

  void Clear() {
    index_.clear();
    entries_.clear();
    bytes_ = 0;
  }

  std::size_t Bytes() const { return bytes_; }
  std::size_t Size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kLargestShare = 64;
  // The overhead of a list node and an index node: pointers, the second copy of the key, its bucket, and the allocator.
  static constexpr std::size_t kOverhead = 96;

  struct Entry {
    Digest key;
    Value value;
    std::size_t bytes;
    SteadyTime until;
  };
  using Position = typename std::list<Entry>::iterator;
  void Erase(Position position) {
    bytes_ -= position->bytes;
    index_.erase(position->key);
    entries_.erase(position);
  }

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // oldest first
  std::unordered_map<Digest, Position, DigestHash> index_;
};

}  // namespace apimesh
