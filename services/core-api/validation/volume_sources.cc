#include "services/core-api/validation/volume_sources.h"

#include <algorithm>

#include <re2/re2.h>

#include "lib/base/text/text.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

using meta::Quoted;

/// Validates a number between 0 and 255. The message can name another lower bound.
void Byte(const Check& source, std::string_view field, const char* message) {
  const std::int64_t number = source.Number(field).value_or(0);
  if (number < 0 || number > 255) source.Invalid(field, message);
}

/// Returns whether a text is "host:port". An IPv6 address needs brackets.
bool IsHostPort(std::string_view text) {
  static const re2::RE2 pattern(R"((\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*)");
  return re2::RE2::FullMatch(text, pattern);
}

bool IsIscsiName(std::string_view name) {
  static const re2::RE2 iqn(R"(iqn\.\d{4}-\d{2}\.[[:alnum:]\-.]+:[^,;*&$|\s]+$)");
  static const re2::RE2 eui(R"(^eui.[[:alnum:]]{16}$)");
  static const re2::RE2 naa(R"(^naa.[[:alnum:]]{32}$)");
  if (name.starts_with("iqn")) return re2::RE2::PartialMatch(name, iqn);
  if (name.starts_with("eui")) return re2::RE2::PartialMatch(name, eui);
  return name.starts_with("naa") && re2::RE2::PartialMatch(name, naa);
}

/// Validates the name of an iSCSI target or initiator. Errors name `path_field`.
void ValidateIscsiName(const Check& source, std::string_view field, std::string_view path_field, IscsiErrors errors) {
  constexpr const char* kFormat = "must be valid format";
  const std::string_view name = source.Text(field);
  if (IsIscsiName(name)) return;
  const bool has_type = name.starts_with("iqn") || name.starts_with("eui") || name.starts_with("naa");
  source.Add(meta::Invalid(
      source.Path().Child(path_field).ToString(), Quoted(name),
      has_type || errors == IscsiErrors::kOfVolumes ? kFormat : "must be valid format starting with iqn, eui, or naa"));
}

}  // namespace

void ValidateNoBackSteps(const Check& holder, std::string_view field) {
  if (("/" + std::string(holder.Text(field)) + "/").find("/../") != std::string::npos)
    holder.Invalid(field, "must not contain '..'");
}

void ValidatePartition(const Check& source) { Byte(source, "partition", "must be between 1 and 255, inclusive"); }

void RequireSecretName(const Check& source, bool with_namespace) {
  const std::optional<Check> secret = source.Child("secretRef");
  if (!secret) return;
  secret->Require("name");
  if (with_namespace) secret->Require("namespace");
}

void ValidateHostPath(const Check& source) {
  if (!source.Require("path")) return;
  ValidateNoBackSteps(source, "path");
  source.OneOf("type",
               {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"});
}

void ValidateFlocker(const Check& source) {
  const std::string_view name = source.Text("datasetName"), uuid = source.Text("datasetUUID");
  const std::string path = source.Path().ToString();
  if (name.empty() && uuid.empty()) source.Add(meta::Required(path, "one of datasetName and datasetUUID is required"));
  if (!name.empty() && !uuid.empty()) {
    source.Add(meta::Invalid(path, "\"resource\"", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (name.find('/') != std::string_view::npos) source.Invalid("datasetName", "must not contain '/'");
}

void ValidateNfs(const Check& source) {
  if (!source.Text("path").starts_with('/'))
    source.Add(
        meta::Invalid(source.Path().Child("path").ToString(), Quoted(source.Text("path")), "must be an absolute path"));
}

void ValidateQuobyte(const Check& source) {
  constexpr const char* kPairs = "must be a host:port pair or multiple pairs separated by commas";
  const std::string_view registry = source.Text("registry");
  if (registry.empty()) {
    source.Require("registry", kPairs);
  } else if (source.Text("tenant").size() >= 65) {
    source.Add(meta::Required(source.Path().Child("tenant").ToString(),
                              "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (std::size_t at = 0; at <= registry.size();) {
      const std::size_t end = std::min(registry.find(',', at), registry.size());
      if (!IsHostPort(registry.substr(at, end - at))) source.Invalid("registry", kPairs);
      at = end + 1;
    }
  }
  source.Require("volume");
}

void ValidateIscsi(const Check& source, IscsiErrors errors) {
  if (source.Require("iqn")) ValidateIscsiName(source, "iqn", "iqn", errors);
  Byte(source, "lun", "must be between 0 and 255, inclusive");
  if ((source.IsTrue("chapAuthDiscovery") || source.IsTrue("chapAuthSession")) && !source.Has("secretRef"))
    source.Add(meta::Required(source.Path().Child("secretRef").ToString(), ""));
  if (errors == IscsiErrors::kOfVolumes) RequireSecretName(source, false);
  if (source.Has("initiatorName")) ValidateIscsiName(source, "initiatorName", "initiatorname", errors);
}

bool IsIscsiTargetTooLong(const Check& source, std::string_view volume) {
  return source.Has("initiatorName") && volume.size() + 1 + source.Text("targetPortal").size() > 64;
}

void ValidateFibreChannel(const Check& source) {
  const bool targets = SizeOf(source, "targetWWNs") > 0, ids = SizeOf(source, "wwids") > 0;
  const std::string path = source.Path().Child("targetWWNs").ToString();
  if (!targets && !ids) source.Add(meta::Required(path, "must specify either targetWWNs or wwids, but not both"));
  if (targets && ids) source.Invalid("targetWWNs", "targetWWNs and wwids can not be specified simultaneously");
  if (!targets) return;
  if (!source.Has("lun")) {
    source.Add(meta::Required(source.Path().Child("lun").ToString(), "lun is required if targetWWNs is specified"));
  } else {
    Byte(source, "lun", "must be between 0 and 255, inclusive");
  }
}

void ValidateFlexVolume(const Check& source) {
  const std::optional<Check> options = source.Child("options");
  if (!options) return;
  for (const auto& [key, value] : options->Object()) {
    const std::string_view name = key;
    const std::string domain = "." + LowerCase(name.substr(0, name.find('/')));
    if (!domain.ends_with(".kubernetes.io") && !domain.ends_with(".k8s.io")) continue;
    options->Add(meta::Invalid(options->Path().Key(name).ToString(), Quoted(name),
                               "kubernetes.io and k8s.io namespaces are reserved"));
  }
}

void ValidateAzureDisk(const Check& source) {
  source.OneOf("cachingMode", {"None", "ReadOnly", "ReadWrite"});
  source.OneOf("kind", {"Dedicated", "Managed", "Shared"});
  if (!source.Has("kind")) return;
  const bool managed = source.Text("kind") == "Managed";
  const std::string_view uri = source.Text("diskURI");
  if (uri.starts_with(managed ? "/subscriptions/" : "https://")) return;
  const char* form =
      managed ? "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
              : "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
  source.Add(meta::NotSupported(source.Path().Child("diskURI").ToString(), Quoted(uri), {form}));
}

void ValidateStorageOs(const Check& source) {
  source.RequireName("volumeName", meta::CheckDnsLabel);
  source.Names("volumeNamespace", meta::CheckDnsLabel);
}

void RequireMonitors(const Check& source) {
  if (SizeOf(source, "monitors") == 0) source.Add(meta::Required(source.Path().Child("monitors").ToString(), ""));
}

void ValidateRbd(const Check& source) {
  RequireMonitors(source);
  source.Require("image");
}

}  // namespace apimesh::core_api
