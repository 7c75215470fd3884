#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The feature gates of kube-apiserver (--feature-gates).
namespace apimesh::features {

enum class Stage : std::uint8_t { kAlpha, kBeta, kGa, kDeprecated };

/// A feature gate of kube-apiserver v1.36. A locked gate can only be set to its default.
struct Gate {
  std::string_view name;
  bool default_value;
  bool locked;
  Stage stage;
};
/// `gate` cannot be on while `needs` is off.
struct Dependency {
  std::string_view gate, needs;
};

/// All gates, sorted by name.
std::span<const Gate> AllGates();
/// All dependencies, sorted by gate and by the gate that it needs.
std::span<const Dependency> AllDependencies();
/// Returns nullptr if kube-apiserver has no such gate.
const Gate* FindGate(std::string_view name);

/// Names of the gates on which the behaviour of the mesh depends. gates.inc is the list. The launcher warns about any
/// other gate that is set to a value different from its default, because that has no effect.
#define APIMESH_GATE(name) inline constexpr std::string_view k##name = #name;
#include "lib/features/gates.inc"
#undef APIMESH_GATE

/// Whether gates.inc lists the gate.
bool HasEffect(std::string_view name);

/// The values of all gates. An object that is constructed without settings has the defaults.
class FeatureGates {
 public:
  FeatureGates() = default;
  /// `settings` are elements of --feature-gates: "Name=true", "kube:Name=false". AllAlpha and AllBeta set the gates of
  /// their stage that are not set themselves. Elements that are not valid are ignored, because the launcher refuses
  /// them.
  explicit FeatureGates(const std::vector<std::string>& settings);

  /// The gate must exist.
  bool Enabled(std::string_view gate) const;
  /// Returns the gates that are set, with AllAlpha and AllBeta applied.
  const std::map<std::string, bool, std::less<>>& Set() const { return set_; }

 private:
  std::map<std::string, bool, std::less<>> set_;
};

/// One element of --feature-gates.
struct Setting {
  std::string component, name;
  std::string value;       // without the spaces around it
  bool has_value = false;  // false for an element without '='
};
/// Splits an element; nothing is checked.
Setting ParseSetting(std::string_view element);

/// Returns the errors of kube-apiserver about gates that are on although a gate that they need is off.
std::vector<std::string> DependencyErrors(const FeatureGates& gates);

}  // namespace apimesh::features
