#include "lib/admission/manifests/static_manifests.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/codec/config_section.h"

namespace apimesh::admission {

void RefuseStaticManifests(std::string_view directory) {
  if (directory.empty()) return;
  throw std::invalid_argument(
      "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate "
      "to be enabled");
}

void CheckPolicySection(const std::optional<std::string>& section, std::string_view kind) {
  static constexpr std::string_view kVersion = "apiserver.config.k8s.io/v1";
  static constexpr codec::SectionType kTypes[] = {{kVersion, "ValidatingAdmissionPolicyConfiguration"},
                                                  {kVersion, "MutatingAdmissionPolicyConfiguration"}};
  if (!section) return;
  const codec::SectionStruct fields = {kind, {{"staticManifestsDir", "string"}}};
  const meta::json::object document = codec::ReadStrictSection(*section, kTypes, fields);
  if (const std::string_view found = meta::FindString(document, "kind"); found != kind)
    throw std::invalid_argument(fmt::format("unexpected type: *policyconfig.{}", found));
  RefuseStaticManifests(meta::FindString(document, "staticManifestsDir"));
}

}  // namespace apimesh::admission
