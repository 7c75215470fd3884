#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/progress/progress.h"

/// `store snapshot|import|export`: moves data between stores, snapshots and etcd clusters. Built as `store-tool`, which
/// `store` executes for these commands. It needs the gRPC library, which the server should not have to load.
namespace apimesh::store::tool {

/// The arguments of a command: "--flag value" pairs and the other words.
struct Arguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string> flags;

  /// Throws std::invalid_argument on a flag that is not in `known`.
  static Arguments Parse(const std::vector<std::string>& words, const std::vector<std::string>& known);
  std::string Get(const std::string& flag, const std::string& fallback = "") const;
  /// Throws std::invalid_argument if it is missing.
  std::string Require(const std::string& flag) const;
};

// Each returns the exit code and throws on errors.
int RunSnapshot(const std::vector<std::string>& words, const Clock& clock);
int RunImport(const std::vector<std::string>& words, const Clock& clock);
int RunExport(const std::vector<std::string>& words, const Clock& clock);

/// Shows on standard error how far a command is.
std::unique_ptr<Progress> ShowProgress(std::string task, std::uint64_t total, const Clock& clock);

/// Throws unless the folder is empty or missing, because existing files would be mixed with the new ones.
void RequireEmptyFolder(const std::string& folder);

}  // namespace apimesh::store::tool
