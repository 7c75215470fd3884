#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::admission {

/// The file of --admission-control-config-file: an AdmissionConfiguration of apiserver.config.k8s.io/v1 or
/// apiserver.k8s.io/v1alpha1, in YAML or JSON. It has one section per configured plugin.
class Configuration {
 public:
  /// Without a file, no plugin is configured.
  Configuration() = default;
  /// Throws std::invalid_argument with the message of kube-apiserver if the file cannot be read or is not an
  /// AdmissionConfiguration. A file of another type that contains `imagePolicy` or `podNodeSelectorPluginConfig` is
  /// accepted as the section of ImagePolicyWebhook and PodNodeSelector; this format is older than
  /// AdmissionConfiguration.
  static Configuration FromFile(const std::string& path);

  /// Returns the section of a plugin as JSON or YAML text: the object `configuration`, or the contents of the file
  /// `path`, which is relative to the directory of the AdmissionConfiguration. Returns nullopt if the plugin has no
  /// section or an empty one. Throws std::invalid_argument if the file cannot be read.
  std::optional<std::string> SectionOf(std::string_view plugin) const;
  /// Returns the plugins that have a section, in the order of the file.
  const std::vector<std::string>& Plugins() const { return plugins_; }

 private:
  struct Section {
    std::string text;  // JSON of `configuration`; empty if there is none
    std::string path;  // absolute, or relative to the working directory of the server
  };
  void Add(std::string plugin, Section section);
  static Configuration Legacy(const std::string& path);

  std::vector<std::string> plugins_;
  std::map<std::string, Section, std::less<>> sections_;
};

}  // namespace apimesh::admission
