#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/wipe.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::authn_authz {

meta::Result<std::string> ReadFile(const std::string& path);
meta::Result<SecretBytes> ReadSecretFile(const std::string& path);

/// Detects changes of a file, which it checks at most once per second. Thread-safe.
class WatchedFile {
 public:
  /// The contents at construction are not reported as a change.
  WatchedFile(std::string path, const Clock& clock);

  const std::string& Path() const { return path_; }
  /// Returns the new contents once per change; nullopt if nothing changed or the file can't be read.
  std::optional<std::string> ChangedContents();

 private:
  const std::string path_;
  const Clock& clock_;
  std::mutex mutex_;
  SteadyTime next_look_;  // guarded by mutex_
  std::string stamp_;     // guarded by mutex_
};

}  // namespace apimesh::authn_authz
