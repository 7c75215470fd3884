#pragma once

#include <string_view>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// A feature gate of kube-apiserver v1.36. A locked gate can only be set to its default.
struct FeatureGate {
  std::string_view name;
  bool default_value;
  bool locked;
};

/// nullptr if kube-apiserver has no such gate.
const FeatureGate* FindFeatureGate(std::string_view name);

/// The value of a gate that exists: as --feature-gates sets it, else its default.
bool FeatureEnabled(const CommandLine& flags, std::string_view name);

}  // namespace apimesh::launcher
