// Rules for the APIs that are served and for admission plugins.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/text/trim.h"
#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

/// Returns --runtime-config as a map, with the older names of the core group replaced.
std::map<std::string, std::string> RuntimeConfig(const CommandLine& flags) {
  std::map<std::string, std::string> config;
  for (const std::string& pair : flags.Values("runtime-config")) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    std::string key(TrimSpace(std::string_view(pair).substr(0, equals)));
    if (key == "api/legacy") continue;
    if (key == "v1" || key.starts_with("v1/") || key == "api/v1" || key.starts_with("api/v1/")) key = "/v1";
    config[key] = equals == pair.npos ? "" : TrimSpace(std::string_view(pair).substr(equals + 1));
  }
  return config;
}

struct Group {
  std::string_view name;
  std::string_view versions;  // all versions that kube-apiserver v1.36 has, served or not; space separated
};

constexpr Group kGroups[] = {
    {"", "v1"},
    {"admission.k8s.io", "v1 v1beta1"},
    {"admissionregistration.k8s.io", "v1 v1beta1 v1alpha1"},
    {"apiextensions.k8s.io", "v1 v1beta1"},
    {"apiregistration.k8s.io", "v1 v1beta1"},
    {"apps", "v1 v1beta2 v1beta1"},
    {"authentication.k8s.io", "v1 v1beta1 v1alpha1"},
    {"authorization.k8s.io", "v1 v1beta1"},
    {"autoscaling", "v2 v1"},
    {"batch", "v1 v1beta1"},
    {"certificates.k8s.io", "v1 v1beta1 v1alpha1"},
    {"coordination.k8s.io", "v1 v1beta1 v1alpha2"},
    {"discovery.k8s.io", "v1 v1beta1"},
    {"events.k8s.io", "v1 v1beta1"},
    {"extensions", "v1beta1"},
    {"flowcontrol.apiserver.k8s.io", "v1 v1beta3 v1beta2 v1beta1"},
    {"imagepolicy.k8s.io", "v1alpha1"},
    {"internal.apiserver.k8s.io", "v1alpha1"},
    {"networking.k8s.io", "v1 v1beta1"},
    {"node.k8s.io", "v1 v1beta1"},
    {"policy", "v1 v1beta1"},
    {"rbac.authorization.k8s.io", "v1 v1beta1 v1alpha1"},
    {"resource.k8s.io", "v1 v1beta2 v1beta1 v1alpha3"},
    {"scheduling.k8s.io", "v1 v1beta1 v1alpha2"},
    {"storage.k8s.io", "v1 v1beta1 v1alpha1"},
    {"storagemigration.k8s.io", "v1beta1"},
};

const Group* FindGroup(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kGroups), std::end(kGroups), [&](const Group& group) { return group.name == name; });
  return found == std::end(kGroups) ? nullptr : found;
}

/// Returns "apps/v1" for "apps/v1/deployments".
std::string GroupVersion(const std::string& key) { return key.substr(0, key.find('/', key.find('/') + 1)); }

/// Returns a group-version as kube-apiserver shows it: "v1" for the core group.
std::string Shown(const std::string& group_version) {
  return group_version.starts_with('/') ? group_version.substr(1) : group_version;
}

bool HasVersion(const Group& group, const std::string& version) {
  return fmt::format(" {} ", group.versions).find(fmt::format(" {} ", version)) != std::string::npos;
}

/// Returns "deployments" for "apps/v1/deployments"; empty if the key has no resource.
std::string ResourceOf(const std::string& key) {
  const std::size_t slash = key.find('/', key.find('/') + 1);
  return slash == key.npos ? "" : key.substr(slash + 1);
}

bool IsMatcher(const std::string& key) {
  return key == "api/all" || key == "api/ga" || key == "api/beta" || key == "api/alpha";
}

bool IsBool(const std::string& text) {
  static const std::set<std::string> kBools{"1", "t", "T", "true",  "TRUE",  "True",
                                            "0", "f", "F", "false", "FALSE", "False"};
  return kBools.contains(text);
}

}  // namespace

void ValidatePriorityAndFairness(const CommandLine& flags, Findings& findings) {
  if (!flags.IsTrue("enable-priority-and-fairness")) return;
  const std::map<std::string, std::string> config = RuntimeConfig(flags);
  for (const char* key : {"flowcontrol.apiserver.k8s.io/v1", "api/ga", "api/all"}) {  // in the order of precedence
    const auto found = config.find(key);
    if (found == config.end()) continue;
    if (found->second == "true") return;
    if (found->second != "false") continue;
    findings.errors.push_back(
        fmt::format("--runtime-config={}=false conflicts with "
                    "--enable-priority-and-fairness=true",
                    key));
    return;
  }
}

void ValidateRuntimeConfig(const CommandLine& flags, Findings& findings) {
  const std::map<std::string, std::string> config = RuntimeConfig(flags);
  if (config.size() == 1 && config.begin()->first == "api/all" && config.begin()->second == "false") {
    findings.errors.push_back("invalid runtime-config with only api/all=false");
    return;
  }
  for (const auto& [key, value] : config) {
    const auto slashes = std::count(key.begin(), key.end(), '/');
    if (IsMatcher(key) || slashes == 1 || slashes == 2) continue;
    findings.errors.push_back(fmt::format("runtime-config invalid key {}", key));
    return;
  }
  std::set<std::string> unknown;
  for (const auto& [key, value] : config) {
    if (!IsMatcher(key) && !FindGroup(key.substr(0, key.find('/')))) unknown.insert(Shown(GroupVersion(key)));
  }
  if (!unknown.empty()) findings.errors.push_back(fmt::format("unknown api groups {}", fmt::join(unknown, ",")));
}

void ApplyRuntimeConfig(const CommandLine& flags, Findings& findings) {
  for (const auto& [key, value] : RuntimeConfig(flags)) {
    const std::string group_version = GroupVersion(key);
    const std::size_t slash = group_version.find('/');
    if (IsMatcher(key) && value != "true" && value != "false") {
      findings.errors.push_back(fmt::format("invalid value {}={}", key, value));
    } else if (!IsMatcher(key) &&
               !HasVersion(*FindGroup(group_version.substr(0, slash)), group_version.substr(slash + 1))) {
      findings.errors.push_back(fmt::format("group version {} that has not been registered", Shown(group_version)));
    } else if (const std::string resource = ResourceOf(key); std::any_of(resource.begin(), resource.end(), ::isupper)) {
      findings.errors.push_back(fmt::format(
          "invalid key {}: group/version/resource and resource is always lowercase plural, not \"{}\"", key, resource));
    } else if (!IsMatcher(key) && !value.empty() && !IsBool(value)) {
      findings.errors.push_back(fmt::format(
          "invalid value of {}: {}, err: strconv.ParseBool: parsing \"{}\": invalid syntax", key, value, value));
    } else {
      continue;
    }
    return;
  }
}

void ValidateAdmission(const CommandLine& flags, Findings& findings) {
  const std::vector<std::string> enabled = flags.Values("enable-admission-plugins");
  const std::vector<std::string> disabled = flags.Values("disable-admission-plugins");
  if (flags.Has("admission-control") &&
      (flags.Has("enable-admission-plugins") || flags.Has("disable-admission-plugins"))) {
    findings.errors.push_back(
        "admission-control and enable-admission-plugins/disable-admission-plugins flags are "
        "mutually exclusive");
  }
  std::set<std::string> both;
  for (const std::string& name : enabled) {
    if (std::find(disabled.begin(), disabled.end(), name) != disabled.end()) both.insert(name);
  }
  if (!both.empty()) {
    findings.errors.push_back(
        fmt::format("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", fmt::join(both, " ")));
  }
}

}  // namespace apimesh::launcher
