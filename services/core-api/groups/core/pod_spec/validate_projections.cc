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
    if (kinds > 1) {
      source.Add(meta::Forbidden(source.Path().ToString(), "may not specify more than 1 volume type per source"));
    }
  }
}

}  // namespace apimesh::core_api
