#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/store/mvcc/revision.h"

namespace apimesh::store {

class WatchStream;

/// One watch on a stream.
struct Watcher {
  WatchStream* stream = nullptr;
  std::int64_t id = 0;
  std::string key, end;  // as in a range: an empty end means one key, "\0" means no end
  Revision start = 0;    // as requested; 0: from now on
  Revision next = 0;     // everything before this revision has been sent
  bool synced = false;   // receives events when they become durable; otherwise it reads history first
  bool previous = false;
  bool no_put = false, no_delete = false;
  bool fragment = false;
  bool progress_notify = false;
  bool quiet = false;  // no event since the last progress notification

  // Events that are collected for the next response.
  std::string events;
  std::vector<std::size_t> event_ends;

  bool Wants(const Change& change) const {
    if (change.deleted ? no_delete : no_put) return false;
    if (end.empty()) return change.key == key;
    if (change.key < key) return false;
    return (end.size() == 1 && end[0] == '\0') || change.key < end;
  }
};

}  // namespace apimesh::store
