#include "lib/admission/manifests/static_manifests.h"

#include <stdexcept>

#include <gmock/gmock.h>

namespace apimesh::admission {
namespace {

constexpr const char* kKind = "ValidatingAdmissionPolicyConfiguration";

std::string Error(const std::optional<std::string>& section) {
  try {
    CheckPolicySection(section, kKind);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// The messages of kube-apiserver v1.36.
TEST(PolicySection, IsChecked) {
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: ValidatingAdmissionPolicyConfiguration\n";
  EXPECT_EQ(Error(std::nullopt), "");
  EXPECT_EQ(Error(head), "");
  EXPECT_EQ(Error(head + "staticManifestsDir: ''\n"), "");
  EXPECT_EQ(
      Error(head + "staticManifestsDir: /manifests\n"),
      "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature "
      "gate to be enabled");
  EXPECT_EQ(Error(head + "x: y\n"), R"(strict decoding error: unknown field "x")");
  EXPECT_EQ(Error("apiVersion: apiserver.config.k8s.io/v1\nkind: MutatingAdmissionPolicyConfiguration\n"),
            "unexpected type: *policyconfig.MutatingAdmissionPolicyConfiguration");
  EXPECT_THAT(Error("apiVersion: v1\nkind: Pod\n"), ::testing::HasSubstr("no kind \"Pod\" is registered"));
}

}  // namespace
}  // namespace apimesh::admission
