// Rules for the store: servers, storage format and encryption.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/errors/field_error.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

/// Returns whether the text has the format "group/resource#server;server".
bool IsOverride(const std::string& text) {
  const std::vector<std::string_view> halves = Split(text, '#');
  if (halves.size() != 2 || Split(halves[0], '/').size() != 2) return false;
  const std::vector<std::string_view> servers = Split(halves[1], ';');
  return std::none_of(servers.begin(), servers.end(), [](std::string_view server) { return server.empty(); });
}

}  // namespace

void ValidateEtcd(const CommandLine& flags, Findings& findings) {
  if (flags.Values("etcd-servers").empty()) findings.errors.push_back("--etcd-servers must be specified");
  if (const std::string backend = flags.Value("storage-backend"); !backend.empty() && backend != "etcd3") {
    findings.errors.push_back(
        "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to "
        "'etcd3'");
  }
  const std::vector<std::string> overrides = flags.Values("etcd-servers-overrides");
  if (!std::all_of(overrides.begin(), overrides.end(), IsOverride)) {
    findings.errors.push_back(
        "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where "
        "servers are URLs, "
        "semicolon separated");
  }
  if (flags.IsTrue("encryption-provider-config-automatic-reload") &&
      flags.Value("encryption-provider-config").empty()) {
    findings.errors.push_back(
        "--encryption-provider-config-automatic-reload must be set with "
        "--encryption-provider-config");
  }
  const std::string media_type = flags.Value("storage-media-type");
  if (!media_type.empty() && media_type != "application/json" && media_type != "application/yaml" &&
      media_type != "application/vnd.kubernetes.protobuf") {
    findings.errors.push_back(fmt::format(
        "--storage-media-type {} invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, "
        "application/yaml",
        meta::Quoted(media_type)));
  }
  if (flags.Has("storage-media-type") && media_type == "application/yaml") {
    findings.warnings.push_back(
        "--storage-media-type=application/yaml: objects are stored as JSON, which is valid YAML");
  }
}

void ApplyEtcd(const CommandLine& flags, Findings& findings) {
  const std::string certificate = flags.Value("etcd-certfile"), key = flags.Value("etcd-keyfile");
  if (certificate.empty() == key.empty()) return;
  findings.errors.push_back(
      fmt::format("error creating storage factory: KeyFile and CertFile must both be present[key: {}, cert: {}]", key,
                  certificate));
}

void CompleteWatchCacheSizes(const CommandLine& flags, Findings& findings) {
  if (!flags.IsTrue("watch-cache")) return;
  for (const std::string& size : flags.Values("watch-cache-sizes")) {
    const std::vector<std::string_view> halves = Split(size, '#');
    if (halves.size() != 2) {
      findings.errors.push_back(fmt::format("invalid value of watch cache size: {}", size));
      return;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(halves[1].data(), halves[1].data() + halves[1].size(), number);
    if (error != std::errc() || end != halves[1].data() + halves[1].size()) {
      findings.errors.push_back(fmt::format("invalid size of watch cache size: {}", size));
      return;
    }
    if (number < 0) {
      findings.errors.push_back(fmt::format("watch cache size cannot be negative: {}", size));
      return;
    }
  }
}

}  // namespace apimesh::launcher
