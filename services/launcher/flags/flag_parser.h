#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/launcher/flags/flag_table.h"

namespace apimesh::launcher {

/// A kube-apiserver command line, checked. `error` is empty if all is well; otherwise it says what is wrong the way
/// kube-apiserver says it.
struct CommandLine {
  /// As given, in order, one entry an occurrence; values checked for their type.
  std::vector<std::pair<const Flag*, std::string>> given;
  bool help = false;
  std::string error;

  bool Has(std::string_view name) const;
  /// The last value given, else the default.
  std::string Value(std::string_view name) const;
  /// All values given, split at commas where the type says so.
  std::vector<std::string> Values(std::string_view name) const;
  bool IsTrue(std::string_view name) const { return Value(name) == "true"; }
};

/// Takes --name=value, --name value, --name and --no-value booleans, -v N, -vN, and underscores for dashes.
CommandLine ParseKubeApiserverFlags(const std::vector<std::string>& arguments);

/// --help, one flag a line as "  --name".
std::string KubeApiserverHelp();

}  // namespace apimesh::launcher
