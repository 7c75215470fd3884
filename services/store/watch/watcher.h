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
  std::string key, end;        // as in a range: end empty is one key, "\0" is no end
  Revision start = 0;          // what was asked for; 0: from now on
  Revision next = 0;           // everything before has been sent
  bool synced = false;         // gets events as they become durable; otherwise it reads the past first
  bool previous = false;
  bool no_put = false, no_delete = false;
  bool fragment = false;
  bool progress_notify = false;
  bool quiet = false;          // no event since the last progress notification

  // Events collected for the response that is being built.
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
