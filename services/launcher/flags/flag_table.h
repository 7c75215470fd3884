#pragma once

#include <span>
#include <string_view>

namespace apimesh::launcher {

/// Who acts on a flag. The launcher checks every flag's value itself and passes it on, spelled the same, to these.
enum Service : unsigned {
  kNobody = 0,  // known, checked and kept, but without effect so far; said in the log when given
  kLauncher = 1 << 0,
  kAggregator = 1 << 1,
  kCoreApi = 1 << 2,
  kExtensionsApi = 1 << 3,
  kAuthnAuthz = 1 << 4,
  kGroupServers = kAggregator | kCoreApi | kExtensionsApi,
  kServices = kGroupServers | kAuthnAuthz,
};

/// kPairs: every element must be key=value; kMap: elements are checked later, by the rules of options/.
enum class FlagType {
  kString, kStrings, kStringArray, kBool, kInt, kFloat, kDuration, kIp, kPortRange, kPairs, kMap, kVersion, kLevel, kVmodule,
  kCertificateAndKey, kInts, kMetricLabels
};

struct Flag {
  std::string_view section;  // heading in --help
  std::string_view name;
  FlagType type;
  std::string_view default_value;
  unsigned services;
  std::string_view help;
};

/// All flags of kube-apiserver v1.36, those that its relatives pass, and a few of our own.
std::span<const Flag> KubeApiserverFlags();
const Flag* FindKubeApiserverFlag(std::string_view name);

/// The word that --help shows for the value: "string", "duration", …; empty for booleans.
std::string_view TypeName(FlagType type);

}  // namespace apimesh::launcher
