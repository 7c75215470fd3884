#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "services/store/mvcc/identity.h"
#include "services/store/mvcc/store.h"
#include "services/store/watch/watcher.h"

namespace apimesh::store {

/// Delivers changes to watchers. Watchers that are up to date receive changes when they become durable, and each change
/// is encoded once for all of them. The others read history, one slice per turn of the loop. Events of one revision
/// stay together and in order. A stream whose client does not read falls back to history, so it takes no memory. Must
/// be used on the loop thread only.
class WatchHub {
 public:
  WatchHub(EventLoop& loop, const Store& store, const Identity& identity, std::size_t fragment_bytes);

  void Add(Watcher& watcher);
  void Remove(Watcher& watcher);
  void AddStream(WatchStream& stream) { streams_.insert(&stream); }
  void RemoveStream(WatchStream& stream) { streams_.erase(&stream); }

  /// Must be called when changes in (before, now] have become durable.
  void Publish(Revision before, Revision now);
  /// Lets watchers that read history continue.
  void ContinueCatchUp();
  void StartProgressNotifications(std::chrono::steady_clock::duration interval);

  const Store& store() const { return store_; }
  const Identity& identity() const { return identity_; }
  std::size_t Watchers() const { return watchers_; }
  std::size_t Streams() const { return streams_.size(); }
  std::size_t SlowWatchers() const { return behind_.size(); }
  std::uint64_t EventsSent() const { return events_sent_; }

 private:
  class Encoder;
  void CatchUp(Watcher& watcher);
  void Index(Watcher& watcher);
  void Unindex(Watcher& watcher);
  void Collect(Watcher& watcher, const Change& change, Encoder& encoder);
  void SendCollected(Watcher& watcher, Revision revision);

  EventLoop& loop_;
  const Store& store_;
  const Identity& identity_;
  std::size_t fragment_bytes_;
  std::unordered_set<WatchStream*> streams_;
  /// Synced watchers of one key; the views point into the watchers.
  std::unordered_map<std::string_view, std::vector<Watcher*>> by_key_;
  std::vector<Watcher*> ranges_;  // synced watchers of more than one key
  std::unordered_set<Watcher*> behind_;
  bool catch_up_scheduled_ = false;
  std::size_t watchers_ = 0;
  std::uint64_t events_sent_ = 0;
};

}  // namespace apimesh::store
