#include "services/store/crash/test_history.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh::store::crash {

void History::Add(Write write) {
  const std::lock_guard lock(mutex_);
  writes_.push_back(std::move(write));
}
void History::Add(Read read) {
  const std::lock_guard lock(mutex_);
  reads_.push_back(std::move(read));
}
void History::Add(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

void History::AddTo(std::size_t watcher, const std::string& prefix, Event event) {
  const std::lock_guard lock(mutex_);
  others_[watcher].prefix = prefix;
  others_[watcher].events.push_back(std::move(event));
}
void History::Add(LeasedKey key) {
  const std::lock_guard lock(mutex_);
  leased_.push_back(std::move(key));
}
void History::AddFault(std::string fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

std::size_t History::Acknowledged() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(writes_, [](const Write& w) { return w.revision != 0; }));
}

std::vector<std::string> History::Check() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> faults = faults_;
  CheckWatch(faults);
  CheckWrites(faults);
  CheckRealTime(faults);
  CheckReads(faults);
  CheckOtherWatchers(faults);
  CheckLeases(faults);
  return faults;
}

void History::CheckWatch(std::vector<std::string>& faults) const {
  for (std::size_t i = 1; i < events_.size(); ++i) {
    if (events_[i].revision <= events_[i - 1].revision) {
      faults.push_back(fmt::format("watch: revision {} came after {}", events_[i].revision, events_[i - 1].revision));
    }
  }
}

// Acknowledged writes are in the watch at their revision, and everything in the watch was written exactly once.
void History::CheckWrites(std::vector<std::string>& faults) const {
  std::map<std::int64_t, const Event*> by_revision;
  for (const Event& event : events_) by_revision[event.revision] = &event;
  std::set<std::pair<std::string, std::string>> tried;
  std::set<std::string> deleted_keys;
  for (const Write& write : writes_) {
    if (write.value.empty()) deleted_keys.insert(write.key);
    tried.emplace(write.key, write.value);
    if (write.revision == 0) continue;
    const auto found = by_revision.find(write.revision);
    if (found == by_revision.end()) {
      faults.push_back(fmt::format("lost: {}={} was acknowledged at {}", write.key, write.value, write.revision));
    } else if (found->second->key != write.key || found->second->value != write.value) {
      faults.push_back(fmt::format("changed: {}={} at {} is now {}={}", write.key, write.value, write.revision,
                                   found->second->key, found->second->value));
    }
  }
  std::set<std::string> seen;
  for (const Event& event : events_) {
    const bool known =
        event.value.empty() ? deleted_keys.contains(event.key) : tried.contains({event.key, event.value});
    if (!known) faults.push_back(fmt::format("invented: {}={} at {}", event.key, event.value, event.revision));
    if (!event.value.empty() && !seen.insert(event.value).second) {
      faults.push_back(fmt::format("executed twice: {}={} at {}", event.key, event.value, event.revision));
    }
  }
}

// An operation that returned before another one was called must have a smaller revision.
void History::CheckRealTime(std::vector<std::string>& faults) const {
  struct Point {
    double time;
    bool returned;
    bool write;
    std::int64_t revision;
  };
  std::vector<Point> points;
  for (const Write& w : writes_) {
    if (w.revision == 0) continue;
    points.push_back({w.called, false, true, w.revision});
    points.push_back({w.returned, true, true, w.revision});
  }
  for (const Read& r : reads_) {
    points.push_back({r.called, false, false, r.revision});
    points.push_back({r.returned, true, false, r.revision});
  }
  std::ranges::stable_sort(points, [](const Point& a, const Point& b) { return a.time < b.time; });
  std::int64_t newest = 0;
  for (const Point& point : points) {
    if (point.returned) {
      newest = std::max(newest, point.revision);
    } else if (point.write ? point.revision <= newest : point.revision < newest) {
      faults.push_back(fmt::format("stale: a {} called after revision {} had been seen was executed at {}",
                                   point.write ? "write" : "read", newest, point.revision));
    }
  }
}

// A read returns the key as it was at the read's revision according to the watch.
void History::CheckReads(std::vector<std::string>& faults) const {
  std::map<std::string, std::vector<const Event*>> by_key;
  for (const Event& event : events_) by_key[event.key].push_back(&event);
  for (const Read& read : reads_) {
    const Event* last = nullptr;
    for (const Event* event : by_key[read.key]) {
      if (event->revision > read.revision) break;
      last = event;
    }
    const bool exists = last != nullptr && !last->value.empty();
    const bool same =
        exists ? read.mod_revision == last->revision && read.value == last->value : read.mod_revision == 0;
    if (!same) {
      faults.push_back(fmt::format("wrong: {} at revision {} was read as {}@{}, the watch says {}@{}", read.key,
                                   read.revision, read.value, read.mod_revision, exists ? last->value : "",
                                   exists ? last->revision : 0));
    }
  }
}

// Every other watcher received exactly the events of its keys that the watcher of all keys received.
void History::CheckOtherWatchers(std::vector<std::string>& faults) const {
  for (const auto& [number, watcher] : others_) {
    std::vector<const Event*> expected;
    for (const Event& event : events_) {
      if (event.key.starts_with(watcher.prefix)) expected.push_back(&event);
    }
    const std::size_t common = std::min(expected.size(), watcher.events.size());
    std::size_t same = 0;
    while (same < common && watcher.events[same].revision == expected[same]->revision &&
           watcher.events[same].key == expected[same]->key && watcher.events[same].value == expected[same]->value) {
      ++same;
    }
    if (same == expected.size() && same == watcher.events.size()) continue;
    faults.push_back(
        fmt::format("watcher {} of {}*: {} of {} events as they should be, {} came; next is {}, expected {}", number,
                    watcher.prefix, same, expected.size(), watcher.events.size(),
                    same < watcher.events.size() ? watcher.events[same].revision : 0,
                    same < expected.size() ? expected[same]->revision : 0));
  }
}

void History::CheckLeases(std::vector<std::string>& faults) const {
  for (const LeasedKey& leased : leased_) {
    const auto deleted = std::ranges::find_if(
        events_, [&](const Event& event) { return event.key == leased.key && event.value.empty(); });
    if (deleted == events_.end()) {
      faults.push_back(fmt::format("lease: {} is still there", leased.key));
    } else if (deleted->seen < leased.renewed + leased.ttl) {
      faults.push_back(fmt::format("lease: {} was deleted {:.3f} s after its renewal, with a TTL of {} s", leased.key,
                                   deleted->seen - leased.renewed, leased.ttl));
    }
  }
}

}  // namespace apimesh::store::crash
