#pragma once

#include <map>
#include <string>
#include <vector>

/// `store snapshot|import|export`: moving data between stores, snapshots and etcd clusters. Built as `store-tool`, which
/// `store` runs for these words: it needs the gRPC library, and the server should not have to load that.
namespace apimesh::store::tool {

/// The words of a command line: "--flag value" pairs, and the rest.
struct Arguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string> flags;

  /// Throws std::invalid_argument on a flag that is not in `known`.
  static Arguments Parse(const std::vector<std::string>& words, const std::vector<std::string>& known);
  std::string Get(const std::string& flag, const std::string& fallback = "") const;
  /// Throws std::invalid_argument if it is missing.
  std::string Require(const std::string& flag) const;
};

// Each returns the exit code and throws for what goes wrong.
int RunSnapshot(const std::vector<std::string>& words);
int RunImport(const std::vector<std::string>& words);
int RunExport(const std::vector<std::string>& words);

/// A folder that must be empty or absent, as its contents would be mixed up with what comes.
void RequireFreshFolder(const std::string& folder);

}  // namespace apimesh::store::tool
