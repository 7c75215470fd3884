#include "lib/admission/configuration.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <stdlib.h>

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AdmissionConfiguration : public ::testing::Test {
 protected:
  AdmissionConfiguration() {
    std::string name = (std::filesystem::temp_directory_path() / "admission-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~AdmissionConfiguration() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// Returns the error without its common prefix.
  std::string Error(const std::string& text) const {
    const std::string begin = "failed to apply admission: failed to read plugin config: ";
    try {
      (void)Configuration::FromFile(Write("config.yaml", text));
      return "";
    } catch (const std::invalid_argument& error) {
      const std::string what = error.what();
      return what.starts_with(begin) ? what.substr(begin.size()) : "unexpected: " + what;
    }
  }

  std::filesystem::path folder_;
};

constexpr const char* kHead = "kind: AdmissionConfiguration\napiVersion: apiserver.config.k8s.io/v1\n";

TEST_F(AdmissionConfiguration, ASectionIsAnObjectOrAFileBesideIt) {
  Write("limits.yaml", "limits: []\n");
  const Configuration read = Configuration::FromFile(
      Write("config.yaml", std::string(kHead) + "plugins:\n"
                                                "- name: EventRateLimit\n"
                                                "  path: limits.yaml\n"
                                                "- name: PodSecurity\n"
                                                "  configuration: {kind: PodSecurityConfiguration}\n"
                                                "- name: Empty\n"));
  EXPECT_THAT(read.Plugins(), ElementsAre("EventRateLimit", "PodSecurity", "Empty"));
  EXPECT_EQ(read.SectionOf("EventRateLimit"), "limits: []\n");
  EXPECT_EQ(read.SectionOf("PodSecurity"), R"({"kind":"PodSecurityConfiguration"})");
  EXPECT_EQ(read.SectionOf("Empty"), std::nullopt);
  EXPECT_EQ(read.SectionOf("Missing"), std::nullopt);
}

TEST_F(AdmissionConfiguration, FieldsOfASectionInYamlAreSorted) {
  const Configuration read = Configuration::FromFile(
      Write("config.yaml", std::string(kHead) + "plugins:\n- {name: A, configuration: {b: x, a: [{d: w, c: z}]}}\n"));
  EXPECT_EQ(read.SectionOf("A"), R"({"a":[{"c":"z","d":"w"}],"b":"x"})");
}

TEST_F(AdmissionConfiguration, JsonAndTheOldVersionAreRead) {
  EXPECT_EQ(Error(R"({"kind":"AdmissionConfiguration","apiVersion":"apiserver.k8s.io/v1alpha1","plugins":[]})"), "");
}

TEST_F(AdmissionConfiguration, AFileOfASectionThatCannotBeOpened) {
  const Configuration read =
      Configuration::FromFile(Write("config.yaml", std::string(kHead) + "plugins:\n- name: A\n  path: missing.yaml\n"));
  EXPECT_THROW((void)read.SectionOf("A"), std::invalid_argument);
}

TEST_F(AdmissionConfiguration, OldFilesOfTwoPluginsAreTheirSections) {
  const Configuration read = Configuration::FromFile(Write("config.yaml", "imagePolicy:\n  a: b\n"));
  EXPECT_EQ(read.SectionOf("ImagePolicyWebhook"), "imagePolicy:\n  a: b\n");
  EXPECT_EQ(read.SectionOf("PodNodeSelector"), "imagePolicy:\n  a: b\n");
}

TEST_F(AdmissionConfiguration, NoFile) { EXPECT_THAT(Configuration().Plugins(), IsEmpty()); }

// The messages of kube-apiserver v1.36.
TEST_F(AdmissionConfiguration, Errors) {
  const std::string missing = folder_ / "missing.yaml";
  try {
    (void)Configuration::FromFile(missing);
    ADD_FAILURE() << "a missing file was read";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "failed to apply admission: failed to read plugin config: unable to read admission control configuration "
              "from \"" +
                  missing + "\" [open " + missing + ": no such file or directory]");
  }
  EXPECT_EQ(Error(""), "Object 'Kind' is missing in ''");
  EXPECT_EQ(Error("garbage\n"),
            "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { "
            R"(APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })");
  EXPECT_EQ(Error(std::string(kHead) + "plugins: x\n"),
            "json: cannot unmarshal string into Go struct field AdmissionConfiguration.plugins of type "
            "[]v1.AdmissionPluginConfiguration");
  EXPECT_EQ(Error("kind: AdmissionConfiguration\n"),
            "Object 'apiVersion' is missing in 'kind: AdmissionConfiguration\n'");
  EXPECT_EQ(Error("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"),
            "unexpected type: *apiserver.EncryptionConfiguration");
  EXPECT_EQ(Error("apiVersion: v1\nkind: Pod\n"),
            R"(no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111")");
  EXPECT_EQ(Error("kind: AdmissionConfiguration\napiVersion: apiserver.config.k8s.io/v1beta1\n"),
            R"(no kind "AdmissionConfiguration" is registered for version "apiserver.config.k8s.io/v1beta1" in scheme )"
            R"("pkg/runtime/scheme.go:111")");
  EXPECT_EQ(Error(std::string(kHead) + "nope: 1\nplugins:\n- name: EventRateLimit\n  pathx: a\n"),
            R"(strict decoding error: unknown field "nope", unknown field "plugins[0].pathx")");
}

}  // namespace
}  // namespace apimesh::admission
