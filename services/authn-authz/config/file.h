#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/meta/api_error.h"

namespace apimesh::authn_authz {

meta::Result<std::string> ReadFile(const std::string& path);

/// Notices that a file has changed, looking at most once a second. Thread-safe.
class WatchedFile {
 public:
  /// The contents at this moment count as known.
  WatchedFile(std::string path, const Clock& clock);

  const std::string& Path() const { return path_; }
  /// The new contents, once for each change; nullopt if nothing changed or the file can't be read.
  std::optional<std::string> ChangedContents();

 private:
  const std::string path_;
  const Clock& clock_;
  std::mutex mutex_;
  SteadyTime next_look_;  // guarded by mutex_
  std::string stamp_;     // guarded by mutex_
};

}  // namespace apimesh::authn_authz
