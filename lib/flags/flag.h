#pragma once

#include <string_view>

namespace apimesh::flags {

/// The processes that read a flag; a row of the table combines them with `|`. The launcher checks the value of every
/// kube-apiserver flag and passes it, under the same name, to these services.
enum Service : unsigned {
  kNobody = 0,  // The flag is accepted and checked, but has no effect yet. A log line reports this when the flag is
                // given.
  kLauncher = 1 << 0,
  kAggregator = 1 << 1,
  kCoreApi = 1 << 2,
  kExtensionsApi = 1 << 3,
  kAuthnAuthz = 1 << 4,
  kMeshOnly = 1 << 5,  // kube-apiserver has no such flag; only the services accept it.
  kConsole = 1 << 6,   // The web console, which is no part of the server chain.
  kGroupServers = kAggregator | kCoreApi | kExtensionsApi,
  kServices = kGroupServers | kAuthnAuthz,
};

/// In a list of type kPairs, every element must be key=value. Elements of kMap are checked by separate rules.
enum class FlagType {
  kString,
  kStrings,
  kStringArray,
  kBool,
  kInt,
  kFloat,
  kDuration,
  kIp,
  kPortRange,
  kPairs,
  kMap,
  kVersion,
  kLevel,
  kVmodule,
  kCertificateAndKey,
  kInts,
  kMetricLabels
};

/// One row of the flag table.
struct Flag {
  std::string_view section;  // heading in --help; flag_table.cc lists the sections in order
  std::string_view name;
  FlagType type;
  std::string_view default_value;  // empty for a number: the default depends on the machine or the service
  unsigned services;
  std::string_view help;
  std::string_view allowed = {};  // "a|b|c": the values, or the elements of a list; "1..64": the range of a number
};

}  // namespace apimesh::flags
