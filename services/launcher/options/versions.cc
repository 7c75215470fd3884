// Rules for --emulated-version and --min-compatibility-version. This server behaves as one version only, so that other
// values are refused.
#include <algorithm>
#include <compare>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "lib/base/text/trim.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/kubernetes_version.h"
#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
  std::string ToString() const { return fmt::format("{}.{}", major, minor); }
};

// The version of this build, and the oldest one that kube-apiserver can emulate.
constexpr Version kOwn{meta::kKubernetesMajor, meta::kKubernetesMinor}, kOldest{kOwn.major, kOwn.minor - 3};

std::optional<Version> ParseVersion(const std::string& text) {
  Version version;
  const char* digits = text.c_str() + (text.starts_with('v') ? 1 : 0);
  int used = 0, with_patch = 0;
  const int numbers =
      std::sscanf(digits, "%d.%d%n.%d%n", &version.major, &version.minor, &used, &version.patch, &with_patch);
  const int end = numbers == 3 ? with_patch : used;
  return numbers >= 2 && digits[end] == '\0' ? std::optional(version) : std::nullopt;
}

/// Reads a flag whose elements are "1.36" or "component=1.36". Returns the error; empty if there is none.
std::string ReadVersion(const CommandLine& flags, std::string_view flag, std::optional<Version>& found) {
  for (const std::string& element : flags.Values(flag)) {
    const std::size_t equals = element.find('=');
    const std::string component(equals == element.npos ? "kube"
                                                       : TrimSpace(std::string_view(element).substr(0, equals)));
    const std::string text(equals == element.npos ? element : TrimSpace(std::string_view(element).substr(equals + 1)));
    const std::optional<Version> version = ParseVersion(text);
    if (!version) return fmt::format("could not parse {} as version", meta::Quoted(text));
    if (version->patch != 0) return fmt::format("patch version not allowed, got: {}={}", component, text);
    if (found)
      return fmt::format("duplicate version flag, kube={} and kube={}", found->ToString(), version->ToString());
    if (component != "kube") return fmt::format("component not registered: {}", component);
    found = version;
  }
  return "";
}

}  // namespace

void CompleteVersions(const CommandLine& flags, Findings& findings) {
  for (const char* flag : {"emulated-version", "min-compatibility-version"}) {
    std::optional<Version> found;
    std::string error = ReadVersion(flags, flag, found);
    if (error.empty()) continue;
    findings.errors.push_back(std::move(error));
    return;
  }
}

void ValidateVersions(const CommandLine& flags, Findings& findings) {
  std::optional<Version> given_emulated, given_oldest;
  ReadVersion(flags, "emulated-version", given_emulated);
  ReadVersion(flags, "min-compatibility-version", given_oldest);
  const Version emulated = given_emulated.value_or(kOwn);
  if (emulated > kOwn || emulated < kOldest) {
    findings.errors.push_back(fmt::format("emulation version {} is not between [{}, {}.0]", emulated.ToString(),
                                          kOldest.ToString(), kOwn.ToString()));
  }
  const Version before = std::max(Version{emulated.major, emulated.minor - 1}, kOldest);
  const Version oldest = given_oldest.value_or(before);
  if (oldest > emulated || oldest < kOldest) {
    findings.errors.push_back(fmt::format("minCompatibilityVersion version {} is not between [{}, {}]",
                                          oldest.ToString(), kOldest.ToString(), emulated.ToString()));
  }
  if (!findings.errors.empty()) return;
  if (emulated != kOwn) {
    findings.errors.push_back(
        fmt::format("--emulated-version={} is not supported: this server can only behave as version {}",
                    emulated.ToString(), kOwn.ToString()));
    return;
  }
  if (oldest < before) {
    findings.errors.push_back(
        fmt::format("--min-compatibility-version={} is not supported: this server stores objects in versions that "
                    "servers older than {} cannot read",
                    oldest.ToString(), before.ToString()));
  }
  const auto refuse = [&](std::string_view flag, std::string_view field) {
    if (!flags.IsTrue(flag)) return;
    findings.errors.push_back(fmt::format(
        "ServerRunOptions.{} cannot be set to true if the emulation version is the same as the binary version", field));
  };
  refuse("emulation-forward-compatible", "EmulationForwardCompatible");
  refuse("runtime-config-emulation-forward-compatible", "RuntimeConfigEmulationForwardCompatible");
}

}  // namespace apimesh::launcher
