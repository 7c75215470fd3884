#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/flags/flag.h"

namespace apimesh::flags {

/// All flags, sorted by section and name. Flags that only services accept are last.
std::span<const Flag> AllFlags();

/// The flags of the kube-apiserver command line: those of v1.36, those that other distributions of it pass, and a few
/// that only apimesh has.
std::span<const Flag> KubeApiserverFlags();

/// nullptr if there is no such flag.
const Flag* FindFlag(std::string_view name);

/// The word that --help shows for the value: "string", "duration", …; empty for booleans.
std::string_view TypeName(FlagType type);

/// Whether the values of the flag accumulate when it is given several times. For other flags the last value is used.
bool IsList(FlagType type);

/// The elements of `flag.allowed`, separated by `|`; empty if the flag declares none.
std::vector<std::string> AllowedValues(const Flag& flag);

}  // namespace apimesh::flags
