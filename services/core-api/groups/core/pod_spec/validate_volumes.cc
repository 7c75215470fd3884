#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

constexpr std::int64_t kMaxMode = 0777;
constexpr const char* kModeText = "must be a number between 0 and 0777 (octal), both inclusive";

void ValidateMode(const Check& holder, std::string_view field) {
  if (const auto mode = holder.Number(field); mode && (*mode < 0 || *mode > kMaxMode)) holder.Invalid(field, kModeText);
}

void NoBackSteps(const Check& holder, std::string_view field) {
  if (fmt::format("/{}/", holder.Text(field)).find("/../") != std::string::npos) holder.Invalid(field, "must not contain '..'");
}

/// A path below the volume that does not hide behind "..".
void ValidateLocalPath(const Check& holder, std::string_view field) {
  const std::string_view path = holder.Text(field);
  if (path.starts_with('/')) holder.Invalid(field, "must be a relative path");
  NoBackSteps(holder, field);
  if (path.starts_with("..") && path != ".." && !path.starts_with("../")) holder.Invalid(field, "must not start with '..'");
}

void ValidateItems(const Check& source) {
  ValidateMode(source, "defaultMode");
  for (const Check& item : source.Each("items")) {
    item.Require("key");
    item.Require("path");
    ValidateLocalPath(item, "path");
    ValidateMode(item, "mode");
  }
}

void ValidateHostPath(const Check& source) {
  if (!source.Require("path")) return;
  NoBackSteps(source, "path");
  source.OneOf("type", {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"});
}

void ValidateDownward(const Check& source) {
  ValidateMode(source, "defaultMode");
  for (const Check& item : source.Each("items")) {
    item.Require("path");
    ValidateLocalPath(item, "path");
    if (item.Has("fieldRef") && item.Has("resourceFieldRef")) {
      item.Add(meta::Invalid(item.Path().ToString(), "\"resource\"", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    } else if (!item.Has("fieldRef") && !item.Has("resourceFieldRef")) {
      item.Add(meta::Required(item.Path().ToString(), "one of fieldRef and resourceFieldRef is required"));
    }
    ValidateMode(item, "mode");
  }
}

void ValidateProjected(const Check& source) {
  ValidateMode(source, "defaultMode");
  for (const Check& projection : source.Each("sources")) {
    if (const auto secret = projection.Child("secret")) {
      secret->Require("name");
      ValidateItems(*secret);
    }
    if (const auto config_map = projection.Child("configMap")) {
      config_map->Require("name");
      ValidateItems(*config_map);
    }
    if (const auto downward = projection.Child("downwardAPI")) ValidateDownward(*downward);
    if (const auto token = projection.Child("serviceAccountToken")) {
      if (const std::int64_t seconds = token->Number("expirationSeconds").value_or(3600); seconds < 10 * 60) {
        token->Invalid("expirationSeconds", "may not specify a duration less than 10 minutes");
      }
      token->Require("path");
      ValidateLocalPath(*token, "path");
    }
  }
}

/// A kind of volume, and what it demands. Kinds with one or two required texts need no function of their own.
struct Source {
  const char* field;
  std::vector<const char*> required;
  void (*validate)(const Check&) = nullptr;
};
const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = {
      {"emptyDir", {}},
      {"hostPath", {}, &ValidateHostPath},
      {"gitRepo", {"repository"}},
      {"gcePersistentDisk", {"pdName"}},
      {"awsElasticBlockStore", {"volumeID"}},
      {"secret", {"secretName"}, &ValidateItems},
      {"nfs", {"server", "path"}},
      {"iscsi", {"targetPortal", "iqn"}},
      {"glusterfs", {"endpoints", "path"}},
      {"flocker", {}},
      {"persistentVolumeClaim", {"claimName"}},
      {"rbd", {"image"}},
      {"cinder", {"volumeID"}},
      {"cephfs", {}},
      {"quobyte", {"registry", "volume"}},
      {"downwardAPI", {}, &ValidateDownward},
      {"fc", {}},
      {"flexVolume", {"driver"}},
      {"configMap", {"name"}, &ValidateItems},
      {"azureFile", {"secretName", "shareName"}},
      {"vsphereVolume", {"volumePath"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"azureDisk", {"diskName", "diskURI"}},
      {"storageos", {"volumeName"}},
      {"projected", {}, &ValidateProjected},
      {"scaleIO", {"gateway", "system", "volumeName"}},
      {"csi", {"driver"}},
      {"ephemeral", {}},
      {"image", {"reference"}},
  };
  return sources;
}

void ValidateSource(const Check& volume) {
  bool found = false;
  for (const Source& source : Sources()) {
    const std::optional<Check> check = volume.Child(source.field);
    if (!check) continue;
    if (found) {
      volume.Forbid(source.field, "may not specify more than 1 volume type");
      continue;
    }
    found = true;
    for (const char* field : source.required) check->Require(field);
    if (source.validate) source.validate(*check);
  }
  if (!found) volume.Add(meta::Required(volume.Path().ToString(), "must specify a volume type"));
}

}  // namespace

std::set<std::string, std::less<>> ValidateVolumes(const Check& spec, std::string_view pod_name) {
  std::set<std::string, std::less<>> names, created_claims;
  const std::vector<Check> volumes = spec.Each("volumes");
  if (!pod_name.empty()) {
    for (const Check& volume : volumes) {
      if (volume.Has("ephemeral")) created_claims.insert(fmt::format("{}-{}", pod_name, volume.Text("name")));
    }
  }
  for (const Check& volume : volumes) {
    meta::FieldErrors errors;
    const Check check(volume.Object(), volume.Path(), errors);
    ValidateSource(check);
    check.RequireName("name", meta::CheckDnsLabel);
    if (names.contains(check.Text("name"))) check.Add(meta::Duplicate(check.Path().Child("name").ToString(), meta::Quoted(check.Text("name"))));
    if (errors.empty()) names.emplace(check.Text("name"));
    for (meta::FieldError& error : errors) volume.Add(std::move(error));
    if (const auto claim = volume.Child("persistentVolumeClaim"); claim && created_claims.contains(claim->Text("claimName"))) {
      claim->Invalid("claimName", "must not reference a PVC that gets created for an ephemeral volume");
    }
  }
  return names;
}

}  // namespace apimesh::core_api
