#include "lib/meta/object_meta.h"
#include "services/core-api/groups/certificates/signers/signers.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/volume_sources.h"

/// Volumes whose files are projections of other objects.
namespace apimesh::core_api {
namespace {

/// Adds the paths of files to `paths`; two sources must not write the same file.
void AddPath(std::string_view path, std::string_view shown, const Check& volume, TextIndex& paths) {
  if (path.empty() || paths.Add(path).is_new) return;
  volume.Add(meta::Invalid(volume.Path().ToString(), meta::Quoted(shown), "conflicting duplicate paths"));
}

void ValidateKeys(const Check& source, const Check& volume, TextIndex& paths) {
  source.Require("name");
  for (const Check& item : source.Each("items")) {
    ValidateKeyToPath(item);
    AddPath(item.Text("path"), source.Text("name"), volume, paths);
  }
}

void ValidateToken(const Check& token, const Check& volume) {
  constexpr std::int64_t kMinSeconds = 10 * 60, kMaxSeconds = std::int64_t{1} << 32;
  const std::int64_t seconds = token.Number("expirationSeconds").value_or(3600);
  if (seconds < kMinSeconds) token.Invalid("expirationSeconds", "may not specify a duration less than 10 minutes");
  if (seconds > kMaxSeconds) token.Invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds");
  // kube-apiserver reports errors of the path at the volume.
  meta::FieldErrors errors;
  const Check at_volume(token.Object(), volume.Path(), errors);
  if (at_volume.Require("path")) ValidateLocalPath(at_volume, "path");
  for (meta::FieldError& error : errors) volume.Add(std::move(error));
}

/// Returns the signer in the name of a bundle such as "example.com:signer:bundle"; "" if it has none.
std::string SignerOfBundle(std::string_view name) {
  std::string signer(name.substr(0, name.rfind(':') == name.npos ? 0 : name.rfind(':')));
  std::replace(signer.begin(), signer.end(), ':', '/');
  return signer;
}

void ValidateTrustBundle(const Check& bundle, const Check& volume, TextIndex& paths) {
  const bool by_name = bundle.Has("name"), by_signer = bundle.Has("signerName");
  const std::string_view name = bundle.Text("name");
  if (by_name && by_signer) {
    bundle.Add(meta::Invalid(bundle.Path().ToString(), meta::json::serialize(bundle.Object()),
                             "only one of name and signerName may be used"));
  } else if (by_name) {
    bundle.Require("name", "must be a valid object name");
    for (const std::string& complaint : CheckTrustBundleName(name, SignerOfBundle(name)))
      bundle.Invalid("name", fmt::format("not a valid clustertrustbundlename: {}", complaint));
    if (bundle.Child("labelSelector"))
      bundle.Invalid("labelSelector", "labelSelector must be unset if name is specified");
  } else if (by_signer) {
    bundle.Require("signerName", "must be a valid signer name");
    meta::FieldErrors errors;
    CheckSignerName(bundle.Path().Child("signerName").ToString(), bundle.Text("signerName"), errors);
    if (const auto selector = bundle.Child("labelSelector"))
      errors.Append(meta::ValidateLabelSelector(selector->Object(), selector->Path()));
    for (meta::FieldError& error : errors) bundle.Add(std::move(error));
  } else {
    bundle.Add(meta::Required(bundle.Path().ToString(), "either name or signerName must be specified"));
  }
  bundle.Require("path");
  ValidateLocalPath(bundle, "path");
  const std::string_view path = bundle.Text("path");
  if (!paths.Add(path).is_new)
    volume.Add(meta::Invalid(volume.Path().ToString(), meta::Quoted(path), "conflicting duplicate paths"));
}

void ValidatePodCertificate(const Check& certificate, const Check& volume, TextIndex& paths) {
  const std::string_view signer = certificate.Text("signerName");
  meta::FieldErrors errors;
  CheckSignerName(certificate.Path().Child("signerName").ToString(), signer, errors);
  for (meta::FieldError& error : errors) certificate.Add(std::move(error));
  ValidateUserAnnotations(certificate, "userAnnotations");
  static const std::vector<std::string> kKeyTypes = {"RSA3072",   "RSA4096",   "ECDSAP256",
                                                     "ECDSAP384", "ECDSAP521", "ED25519"};
  const std::string_view key_type = certificate.Text("keyType");
  if (std::find(kKeyTypes.begin(), kKeyTypes.end(), key_type) == kKeyTypes.end()) {
    certificate.Add(
        meta::NotSupported(certificate.Path().Child("keyType").ToString(), meta::Quoted(key_type), kKeyTypes));
  }
  if (const auto seconds = certificate.Number("maxExpirationSeconds")) {
    const std::int64_t most = MaxCertificateSeconds(signer);
    if (*seconds < kMinCertificateSeconds) {
      certificate.Invalid("maxExpirationSeconds",
                          fmt::format("if provided, maxExpirationSeconds must be >= {}", kMinCertificateSeconds));
    }
    if (*seconds > most) {
      certificate.Invalid("maxExpirationSeconds", fmt::format("if provided, maxExpirationSeconds must be <= {}", most));
    }
  }
  bool has_path = false;
  for (const char* field : {"credentialBundlePath", "keyPath", "certificateChainPath"}) {
    const std::string_view path = certificate.Text(field);
    if (path.empty()) continue;
    has_path = true;
    ValidateLocalPath(certificate, field);
    AddPath(path, path, volume, paths);
  }
  if (!has_path) {
    certificate.Add(meta::Required(certificate.Path().ToString(),
                                   "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"));
  }
}

}  // namespace

void ValidateFileMode(const Check& holder, std::string_view field) {
  if (const auto mode = holder.Number(field); mode && (*mode < 0 || *mode > 0777))
    holder.Invalid(field, "must be a number between 0 and 0777 (octal), both inclusive");
}

void ValidateLocalPath(const Check& holder, std::string_view field) {
  const std::string_view path = holder.Text(field);
  if (path.starts_with('/')) holder.Invalid(field, "must be a relative path");
  ValidateNoBackSteps(holder, field);
  if (path.starts_with("..") && path != ".." && !path.starts_with("../"))
    holder.Invalid(field, "must not start with '..'");
}

void ValidateKeyToPath(const Check& item) {
  item.Require("key");
  item.Require("path");
  ValidateLocalPath(item, "path");
  ValidateFileMode(item, "mode");
}

void ValidateDownwardFile(const Check& file, const Check& list) {
  static const std::vector<std::string> fields = {"metadata.annotations", "metadata.labels", "metadata.name",
                                                  "metadata.namespace", "metadata.uid"};
  meta::FieldErrors errors;
  const Check check(file.Object(), list.Path(), errors);
  check.Require("path");
  ValidateLocalPath(check, "path");
  const std::optional<Check> field = check.Child("fieldRef"), resource = check.Child("resourceFieldRef");
  if (field) {
    ValidateFieldRef(*field, fields);
    if (resource) {
      check.Add(meta::Invalid(check.Path().ToString(), meta::Quoted("resource"),
                              "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (resource) {
    ValidateResourceRef(*resource, ResourceRefIn::kVolume);
  } else {
    check.Add(meta::Required(check.Path().ToString(), "one of fieldRef and resourceFieldRef is required"));
  }
  ValidateFileMode(check, "mode");
  for (meta::FieldError& error : errors) list.Add(std::move(error));
}

void ValidateProjectedVolume(const Check& volume) {
  ValidateFileMode(volume, "defaultMode");
  TextIndex paths;
  for (const Check& source : volume.Each("sources")) {
    int kinds = 0;
    for (const char* keys : {"secret", "configMap"}) {
      if (const auto found = source.Child(keys)) {
        ++kinds;
        ValidateKeys(*found, volume, paths);
      }
    }
    if (const auto downward = source.Child("downwardAPI")) {
      ++kinds;
      for (const Check& file : downward->Each("items")) {
        ValidateDownwardFile(file, *downward);
        AddPath(file.Text("path"), file.Text("path"), volume, paths);
      }
    }
    if (const auto token = source.Child("serviceAccountToken")) {
      ++kinds;
      ValidateToken(*token, volume);
    }
    if (const auto bundle = source.Child("clusterTrustBundle")) {
      ++kinds;
      ValidateTrustBundle(*bundle, volume, paths);
    }
    if (const auto certificate = source.Child("podCertificate")) {
      ++kinds;
      ValidatePodCertificate(*certificate, volume, paths);
    }
    if (kinds > 1) {
      source.Add(meta::Forbidden(source.Path().ToString(), "may not specify more than 1 volume type per source"));
    }
  }
}

}  // namespace apimesh::core_api
