#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/validation/volume_sources.h"

/// The sources of a PersistentVolume.
namespace apimesh::core_api {
namespace {

void ValidateGluster(const Check& source) {
  if (!source.Has("endpointsNamespace")) return;
  if (source.Text("endpointsNamespace").empty()) {
    source.Invalid("endpointsNamespace", "if the endpointnamespace is set, it must be a valid namespace name");
  } else {
    source.Names("endpointsNamespace", meta::CheckDnsLabel);
  }
}

void ValidateAzureFile(const Check& source) {
  if (source.Has("secretNamespace")) source.Require("secretNamespace");
}

void ValidateLocal(const Check& source) {
  if (source.Require("path")) ValidateNoBackSteps(source, "path");
}

void ValidateCsi(const Check& source) {
  ValidateCsiDriverName(source, "driver");
  source.Require("volumeHandle");
  for (const char* field :
       {"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"}) {
    const std::optional<Check> secret = source.Child(field);
    if (!secret) continue;
    secret->RequireName("name", meta::CheckDnsSubdomain);
    secret->RequireName("namespace", meta::CheckDnsLabel);
  }
}

void ValidateVolumeStorageOs(const Check& source) {
  ValidateStorageOs(source);
  RequireSecretName(source, true);
}

void ValidateVolumeIscsi(const Check& source, std::string_view volume) {
  source.Require("targetPortal");
  if (IsIscsiTargetTooLong(source, volume)) {
    source.Add(meta::Invalid(source.Path().Child("targetportal").ToString(), meta::Quoted(source.Text("targetPortal")),
                             "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
                             "iscsi.initiatorName is specified."));
  }
  ValidateIscsi(source, IscsiErrors::kOfVolumes);
}

void ValidateCinder(const Check& source) { RequireSecretName(source, true); }

/// A source and its rules. Sources whose rules are required texts only need no function.
struct Source {
  std::string_view field;
  std::vector<const char*> required;
  void (*validate)(const Check&) = nullptr;
  /// The name of the field in the error paths of the reference, if it differs.
  std::string_view path = {};
};
const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = {
      {"hostPath", {}, &ValidateHostPath},
      {"gcePersistentDisk", {"pdName"}, &ValidatePartition, "persistentDisk"},
      {"awsElasticBlockStore", {"volumeID"}, &ValidatePartition},
      {"glusterfs", {"endpoints", "path"}, &ValidateGluster},
      {"flocker", {}, &ValidateFlocker},
      {"nfs", {"server", "path"}, &ValidateNfs},
      {"rbd", {}, &ValidateRbd},
      {"quobyte", {}, &ValidateQuobyte},
      {"cephfs", {}, &RequireMonitors},
      {"iscsi", {}, nullptr},
      {"cinder", {"volumeID"}, &ValidateCinder},
      {"fc", {}, &ValidateFibreChannel},
      {"flexVolume", {"driver"}, &ValidateFlexVolume},
      {"azureFile", {"secretName", "shareName"}, &ValidateAzureFile},
      {"vsphereVolume", {"volumePath"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"azureDisk", {"diskName", "diskURI"}, &ValidateAzureDisk},
      {"scaleIO", {"gateway", "system", "volumeName"}},
      {"local", {}, &ValidateLocal},
      {"storageos", {}, &ValidateVolumeStorageOs},
      {"csi", {}, &ValidateCsi},
  };
  return sources;
}

void ValidateSource(const Source& source, const Check& check, std::string_view volume) {
  if (source.field == "iscsi") ValidateVolumeIscsi(check, volume);
  for (const char* field : source.required) check.Require(field);
  if (source.validate) source.validate(check);
}

}  // namespace

std::vector<std::string_view> VolumeSourceFields() {
  std::vector<std::string_view> fields;
  for (const Source& source : Sources()) fields.push_back(source.field);
  return fields;
}

void ValidateVolumeSources(const Check& spec, std::string_view name, bool has_affinity) {
  bool found = false;
  for (const Source& source : Sources()) {
    const meta::json::value* value = meta::FindField(spec.Object(), source.field);
    if (!value || !value->is_object()) continue;
    // As in kube-apiserver, a flexVolume next to another source is accepted.
    if (found && source.field != "flexVolume") {
      const std::string_view field = source.field == "cephfs" ? "cephFS" : source.field;
      spec.Add(meta::Forbidden(spec.Path().Child(field).ToString(), kOneVolumeType));
      continue;
    }
    found = true;
    meta::FieldErrors errors;
    const Check check(value->get_object(), spec.Path().Child(source.path.empty() ? source.field : source.path), errors);
    ValidateSource(source, check, name);
    for (meta::FieldError& error : errors) spec.Add(std::move(error));
    if (source.field == "local" && !has_affinity) {
      spec.Add(meta::Required(spec.Path().Child("nodeAffinity").ToString(), "Local volume requires node affinity"));
    }
  }
  if (!found) spec.Add(meta::Required(spec.Path().ToString(), "must specify a volume type"));
}

}  // namespace apimesh::core_api
