#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"

namespace apimesh::core_api {
namespace {

using Warnings = std::vector<std::string>;

/// The files of a volume, to find those that overwrite each other: a file with the path of another one, or with a path
/// below it.
class Files {
 public:
  /// `path` must outlive this object. `source` is shown in warnings, unless it is empty.
  void Add(std::string_view path, std::string_view source, const std::string& volume, Warnings& warnings) {
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.empty() || path.size() > kMaxPath) return;
    const std::string shown = source.empty() ? meta::Quoted(path) : fmt::format("{} ({})", meta::Quoted(path), source);
    for (const std::size_t other : Overlapping(path)) {
      if (warnings.size() >= kMaxPodWarnings) return;
      warnings.push_back(fmt::format("{}: overlapping paths: {} with {}", volume, shown, shown_[other]));
    }
    by_path_.emplace(path, shown_.size());
    shown_.push_back(shown);
  }

 private:
  static constexpr std::size_t kMaxPath = 4096;

  /// Returns the positions of the files that overlap, in the order in which they were added.
  std::vector<std::size_t> Overlapping(std::string_view path) const {
    std::vector<std::size_t> found;
    const auto add_equal = [&](std::string_view wanted) {
      const auto [begin, end] = by_path_.equal_range(wanted);
      for (auto it = begin; it != end && found.size() < kMaxPodWarnings; ++it) found.push_back(it->second);
    };
    add_equal(path);
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
      add_equal(path.substr(0, slash));
    const std::string below = fmt::format("{}/", path);
    for (auto it = by_path_.lower_bound(below);
         it != by_path_.end() && it->first.starts_with(below) && found.size() < kMaxPodWarnings; ++it) {
      found.push_back(it->second);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::multimap<std::string_view, std::size_t, std::less<>> by_path_;
  std::vector<std::string> shown_;
};

void AddItems(const Check& source, std::string_view shown, const std::string& volume, Files& files,
              Warnings& warnings) {
  for (const Check& item : source.Each("items")) files.Add(item.Text("path"), shown, volume, warnings);
}

void AddProjection(const Check& source, const std::string& volume, Files& files, Warnings& warnings) {
  for (const auto& [field, kind] : {std::pair("configMap", "ConfigMap"), std::pair("secret", "Secret")}) {
    const std::optional<Check> found = source.Child(field);
    if (found && found->Has("items"))
      return AddItems(*found, fmt::format("{} {}", kind, meta::Quoted(found->Text("name"))), volume, files, warnings);
  }
  if (const auto downward = source.Child("downwardAPI"); downward && downward->Has("items"))
    return AddItems(*downward, "DownwardAPI", volume, files, warnings);
  if (const auto token = source.Child("serviceAccountToken"))
    return files.Add(token->Text("path"), "ServiceAccountToken", volume, warnings);
  if (const auto bundle = source.Child("clusterTrustBundle")) {
    const std::string_view name = bundle->Text(bundle->Has("name") ? "name" : "signerName");
    return files.Add(bundle->Text("path"), fmt::format("ClusterTrustBundle {}", meta::Quoted(name)), volume, warnings);
  }
  if (const auto certificate = source.Child("podCertificate")) {
    files.Add(certificate->Text("certificateChainPath"), "PodCertificate chain", volume, warnings);
    files.Add(certificate->Text("keyPath"), "PodCertificate key", volume, warnings);
    files.Add(certificate->Text("credentialBundlePath"), "PodCertificate credential bundle", volume, warnings);
  }
}

void WarnAboutClaimTemplate(const Check& volume, Warnings& warnings) {
  const std::optional<Check> ephemeral = volume.Child("ephemeral");
  const std::optional<Check> claim = ephemeral ? ephemeral->Child("volumeClaimTemplate") : std::nullopt;
  const std::optional<Check> spec = claim ? claim->Child("spec") : std::nullopt;
  const std::optional<Check> resources = spec ? spec->Child("resources") : std::nullopt;
  if (!resources) return;
  for (const char* list : {"requests", "limits"}) {
    if (const std::optional<Check> amounts = resources->Child(list)) WarnAboutFraction(*amounts, "storage", warnings);
  }
}

}  // namespace

void WarnAboutVolumes(const Check& spec, Warnings& warnings) {
  static constexpr std::pair<const char*, const char*> kRemoved[] = {
      {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
      {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
      {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
      {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
      {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
      {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
      {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
      {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
      {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
  };
  for (const Check& volume : spec.Each("volumes")) {
    for (const auto& [field, why] : kRemoved) {
      if (!volume.Has(field)) continue;
      // kube-apiserver writes this name differently.
      const std::string_view shown = std::string_view(field) == "storageos" ? "storageOS" : field;
      warnings.push_back(fmt::format("{}: {}", volume.Path().Child(shown).ToString(), why));
    }
    WarnAboutClaimTemplate(volume, warnings);
  }
}

void WarnAboutFiles(const Check& spec, Warnings& warnings) {
  for (const Check& volume : spec.Each("volumes")) {
    const auto name = [&](const std::string& source) {
      return fmt::format("volume {} ({})", meta::Quoted(volume.Text("name")), source);
    };
    if (const auto map = volume.Child("configMap")) {
      Files files;
      AddItems(*map, "", name(fmt::format("ConfigMap {}", meta::Quoted(map->Text("name")))), files, warnings);
    }
    if (const auto secret = volume.Child("secret")) {
      Files files;
      AddItems(*secret, "", name(fmt::format("Secret {}", meta::Quoted(secret->Text("secretName")))), files, warnings);
    }
    if (const auto downward = volume.Child("downwardAPI")) {
      Files files;
      AddItems(*downward, "", name("DownwardAPI"), files, warnings);
    }
    if (const auto projected = volume.Child("projected")) {
      Files files;
      for (const Check& source : projected->Each("sources")) {
        if (source.Object().empty()) {
          warnings.push_back(fmt::format("{} has no sources provided", name("Projected")));
        } else {
          AddProjection(source, name("Projected"), files, warnings);
        }
      }
    }
  }
}

}  // namespace apimesh::core_api
