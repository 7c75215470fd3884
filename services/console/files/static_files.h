#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/base/bytes.h"
#include "lib/base/hash/seeded_hash.h"
#include "lib/http/server.h"

namespace apimesh::console {

/// The built pages, read into memory when the process starts. A path is looked up as it is, so that a request can reach
/// no other file.
class StaticFiles {
 public:
  struct File {
    std::string content_type;
    bool immutable = false;  // its name contains a hash of its contents
    SharedBytes contents;
  };

  /// Throws std::runtime_error if the folder has no index.html, or more than 16 MiB or 500 files.
  explicit StaticFiles(const std::string& folder);

  /// `path` is "/", or the path of a file below the folder. Returns nullptr if there is none.
  const File* Find(std::string_view path) const;

 private:
  std::unordered_map<std::string, File, SeededHash, std::equal_to<>> files_;
};

}  // namespace apimesh::console
