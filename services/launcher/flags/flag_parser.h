#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/flags/flag_table.h"

namespace apimesh::launcher {

using flags::Flag;
using flags::FlagType;

/// Returns nullptr if kube-apiserver has no such flag.
const Flag* FindKubeApiserverFlag(std::string_view name);

/// A parsed kube-apiserver command line. If it is invalid, `error` has kube-apiserver's text; otherwise it is empty.
struct CommandLine {
  /// The flags in the order in which they were given, one entry per occurrence; values are checked for their type.
  std::vector<std::pair<const Flag*, std::string>> given;
  bool help = false;
  std::string error;

  bool Has(std::string_view name) const;
  /// Returns the last value on the command line, or the default.
  std::string Value(std::string_view name) const;
  /// Returns all values on the command line, split at commas if the flag's type is a list.
  std::vector<std::string> Values(std::string_view name) const;
  bool IsTrue(std::string_view name) const { return Value(name) == "true"; }
};

/// Parses --name=value, --name value, --name for booleans, -v N and -vN. Underscores in names are equivalent to dashes.
CommandLine ParseKubeApiserverFlags(const std::vector<std::string>& arguments);

/// Returns the text of --help, with one flag per line as " --name".
std::string KubeApiserverHelp();

}  // namespace apimesh::launcher
