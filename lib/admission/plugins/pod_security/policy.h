#pragma once

#include <string>
#include <string_view>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

/// The Pod Security Standards: levels and versions, and the labels of namespaces that choose them.
namespace apimesh::admission::pod_security {

enum class Level { kPrivileged, kBaseline, kRestricted };  // from the least to the most restrictive

/// The version of the standards, "v1.24" or "latest".
struct Version {
  static constexpr int kLatest = -1;
  int minor = kLatest;
  bool operator==(const Version&) const = default;
};

struct LevelVersion {
  Level level = Level::kPrivileged;
  Version version;
  bool operator==(const LevelVersion&) const = default;
  /// Returns "baseline:v1.24".
  std::string ToString() const;
};

struct Policy {
  LevelVersion enforce, audit, warn;
  bool FullyPrivileged() const;
};
/// Returns whether both policies have the same effect. The version of the level "privileged" has none.
bool Equivalent(const Policy& a, const Policy& b);

/// Parse a level or version. An error is the text of kube-apiserver; the value is then the most restrictive one.
std::string ParseLevel(std::string_view text, Level& level);
std::string ParseVersion(std::string_view text, Version& version);

inline constexpr std::string_view kLabelPrefix = "pod-security.kubernetes.io/";

/// Returns the policy that the labels of a namespace choose, and `defaults` for what they do not say. Labels that
/// cannot be parsed are reported in `errors`: they enforce the level "restricted", and neither warn nor audit.
Policy PolicyOf(const meta::Object& namespace_object, const Policy& defaults, meta::FieldErrors& errors);

}  // namespace apimesh::admission::pod_security
