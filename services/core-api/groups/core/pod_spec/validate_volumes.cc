#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "lib/meta/quantity.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/groups/core/persistentvolumeclaim/validation.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/volume_sources.h"

namespace apimesh::core_api {
namespace {

void ValidateItems(const Check& source) {
  ValidateFileMode(source, "defaultMode");
  for (const Check& item : source.Each("items")) ValidateKeyToPath(item);
}

void ValidateEmptyDir(const Check& source) {
  const auto limit = meta::Quantity::Parse(source.Text("sizeLimit"));
  if (limit && *limit < meta::Quantity())
    source.Forbid("sizeLimit", "SizeLimit field must be a valid resource quantity");
}

void ValidateGitRepo(const Check& source) {
  if (source.Text("directory").starts_with('/')) source.Invalid("directory", "must be a relative path");
  ValidateNoBackSteps(source, "directory");
}

void ValidateDownward(const Check& source) {
  ValidateFileMode(source, "defaultMode");
  for (const Check& item : source.Each("items")) ValidateDownwardFile(item, source);
}

void ValidatePodIscsi(const Check& source) {
  source.Require("targetPortal");
  ValidateIscsi(source, IscsiErrors::kOfPods);
}

void ValidatePodStorageOs(const Check& source) {
  ValidateStorageOs(source);
  RequireSecretName(source, false);
}

void ValidatePodCsi(const Check& source) {
  ValidateCsiDriverName(source, "driver");
  const std::optional<Check> secret = source.Child("nodePublishSecretRef");
  if (!secret || !secret->Require("name")) return;
  for (std::string& complaint : meta::CheckDnsSubdomain(secret->Text("name"))) {
    source.Add(meta::Invalid(source.Path().Child("name").ToString(), meta::Quoted(secret->Text("name")),
                             std::move(complaint)));
  }
}

/// Only labels and annotations of the template's metadata are used, so other fields are refused.
void ValidateClaimTemplateMetadata(const Check& metadata) {
  for (meta::FieldError& error :
       meta::ValidateLabels(meta::FindField(metadata.Object(), "labels"), metadata.Path().Child("labels"))) {
    metadata.Add(std::move(error));
  }
  for (const auto& [field, value] : metadata.Object()) {
    const std::string_view name = field;
    if (name == "labels" || name == "annotations" || value.is_null()) continue;
    if (name == "creationTimestamp") continue;
    metadata.Add(meta::Forbidden(metadata.Path().Child(name).ToString(), "cannot be set"));
  }
}

void ValidateEphemeral(const Check& source) {
  const std::optional<Check> claim = source.Child("volumeClaimTemplate");
  if (!claim) {
    source.Add(meta::Required(source.Path().Child("volumeClaimTemplate").ToString(), ""));
    return;
  }
  if (const std::optional<Check> metadata = claim->Child("metadata")) ValidateClaimTemplateMetadata(*metadata);
  static const meta::json::object empty;
  const std::optional<Check> spec = claim->Child("spec");
  meta::FieldErrors errors;
  ValidateClaimSpec(Check(spec ? spec->Object() : empty, claim->Path().Child("spec"), errors), false);
  for (meta::FieldError& error : errors) source.Add(std::move(error));
}

void ValidateImage(const Check& source) {
  if (!source.Text("pullPolicy").empty()) source.OneOf("pullPolicy", {"Always", "IfNotPresent", "Never"});
}

/// A kind of volume and its rules. Kinds with one or two required texts need no function.
struct Source {
  const char* field;
  std::vector<const char*> required;
  void (*validate)(const Check&) = nullptr;
  /// The name of the field in the error paths of kube-apiserver, if it differs.
  const char* path = nullptr;
};
const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = {
      {"emptyDir", {}, &ValidateEmptyDir},
      {"hostPath", {}, &ValidateHostPath},
      {"gitRepo", {"repository"}, &ValidateGitRepo},
      {"gcePersistentDisk", {"pdName"}, &ValidatePartition, "persistentDisk"},
      {"awsElasticBlockStore", {"volumeID"}, &ValidatePartition},
      {"secret", {"secretName"}, &ValidateItems},
      {"nfs", {"server", "path"}, &ValidateNfs},
      {"iscsi", {}, &ValidatePodIscsi},
      {"glusterfs", {"endpoints", "path"}},
      {"flocker", {}, &ValidateFlocker},
      {"persistentVolumeClaim", {"claimName"}},
      {"rbd", {}, &ValidateRbd},
      {"cinder", {"volumeID"}, [](const Check& source) { RequireSecretName(source, false); }},
      {"cephfs", {}, &RequireMonitors},
      {"quobyte", {}, &ValidateQuobyte},
      {"downwardAPI", {}, &ValidateDownward},
      {"fc", {}, &ValidateFibreChannel},
      {"flexVolume", {"driver"}, &ValidateFlexVolume},
      {"configMap", {"name"}, &ValidateItems},
      {"azureFile", {"secretName", "shareName"}},
      {"vsphereVolume", {"volumePath"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"azureDisk", {"diskName", "diskURI"}, &ValidateAzureDisk},
      {"storageos", {}, &ValidatePodStorageOs},
      {"projected", {}, &ValidateProjectedVolume},
      {"scaleIO", {"gateway", "system", "volumeName"}},
      {"csi", {}, &ValidatePodCsi},
      {"ephemeral", {}, &ValidateEphemeral},
      {"image", {"reference"}, &ValidateImage},
  };
  return sources;
}

void ValidateSource(const Check& volume, std::string_view pod_name) {
  bool found = false;
  const std::string_view name = volume.Text("name");
  for (const Source& source : Sources()) {
    const meta::json::value* value = meta::FindField(volume.Object(), source.field);
    if (!value || !value->is_object()) continue;
    if (found) {
      volume.Forbid(source.field, kOneVolumeType);
      continue;
    }
    found = true;
    meta::FieldErrors errors;
    const Check check(value->get_object(), volume.Path().Child(source.path ? source.path : source.field), errors);
    for (const char* field : source.required) check.Require(field);
    if (source.validate) source.validate(check);
    for (meta::FieldError& error : errors) volume.Add(std::move(error));
  }
  if (const auto iscsi = volume.Child("iscsi"); iscsi && IsIscsiTargetTooLong(*iscsi, name)) {
    volume.Invalid("name",
                   "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
                   "iscsi.initiatorName is specified.");
  }
  if (volume.Has("ephemeral") && !pod_name.empty() && !name.empty()) {
    const std::string claim = fmt::format("{}-{}", pod_name, name);
    for (const std::string& complaint : meta::CheckDnsSubdomain(claim))
      volume.Invalid("name", fmt::format("PVC name {}: {}", meta::Quoted(claim), complaint));
  }
  if (!found) volume.Add(meta::Required(volume.Path().ToString(), "must specify a volume type"));
}

}  // namespace

PodVolumes ValidateVolumes(const Check& spec, std::string_view pod_name) {
  PodVolumes result;
  TextIndex& names = result.names;
  std::set<std::string, std::less<>> created_claims;
  const Checks volumes = spec.Each("volumes");
  if (!pod_name.empty()) {
    for (const Check& volume : volumes) {
      if (volume.Has("ephemeral")) created_claims.insert(fmt::format("{}-{}", pod_name, volume.Text("name")));
    }
  }
  for (const Check& volume : volumes) {
    meta::FieldErrors errors;
    const Check check(volume.Object(), volume.Path(), errors);
    ValidateSource(check, pod_name);
    check.RequireName("name", meta::CheckDnsLabel);
    if (names.Contains(check.Text("name")))
      check.Add(meta::Duplicate(check.Path().Child("name").ToString(), meta::Quoted(check.Text("name"))));
    if (errors.empty()) {
      names.Add(check.Text("name"));
      if (check.Has("persistentVolumeClaim") || check.Has("ephemeral")) result.claims.Add(check.Text("name"));
    }
    for (meta::FieldError& error : errors) volume.Add(std::move(error));
    if (const auto claim = volume.Child("persistentVolumeClaim");
        claim && created_claims.contains(claim->Text("claimName"))) {
      claim->Invalid("claimName", "must not reference a PVC that gets created for an ephemeral volume");
    }
  }
  return result;
}

}  // namespace apimesh::core_api
