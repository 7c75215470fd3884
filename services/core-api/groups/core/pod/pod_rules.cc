#include "services/core-api/groups/core/pod/pod_rules.h"

#include <charconv>

#include <fmt/format.h>

#include "lib/base/text/text_index.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"
#include "services/core-api/groups/core/pod_spec/ratcheting.h"
#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompContainer = "container.seccomp.security.alpha.kubernetes.io/";

const object& ObjectAt(const object& root, std::string_view field) {
  static const object empty;
  const value* found = meta::FindField(root, field);
  return found && found->is_object() ? found->get_object() : empty;
}

bool IsInt32(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool canonical = text == "0" || (!text.starts_with('0') && !text.starts_with("-0"));
  return error == std::errc() && end == text.data() + text.size() && canonical;
}

/// Whether the cost of the pod's deletion, if there is one, is a number.
bool IsDeletionCost(const object& annotations) {
  return !annotations.contains(kDeletionCost) || IsInt32(meta::FindString(annotations, kDeletionCost));
}

void ValidateSeccompAnnotation(std::string_view profile, const meta::Path& path, meta::FieldErrors& errors) {
  constexpr std::string_view kLocal = "localhost/";
  if (profile == "runtime/default" || profile == "docker/default" || profile == "unconfined") return;
  if (!profile.starts_with(kLocal)) {
    errors.push_back(meta::Invalid(path.ToString(), meta::Quoted(profile), "must be a valid seccomp profile"));
    return;
  }
  const std::string_view local = profile.substr(kLocal.size());
  if (local.starts_with('/'))
    errors.push_back(meta::Invalid(path.ToString(), meta::Quoted(local), "must be a relative path"));
  if (fmt::format("/{}/", local).find("/../") != std::string::npos)
    errors.push_back(meta::Invalid(path.ToString(), meta::Quoted(local), "must not contain '..'"));
}

void ValidateAppArmorAnnotation(std::string_view key, std::string_view profile, const TextIndex& containers,
                                const std::string& path, meta::FieldErrors& errors) {
  const std::string_view name = key.substr(kAppArmorAnnotation.size());
  if (!containers.Contains(name)) errors.push_back(meta::Invalid(path, meta::Quoted(name), "container not found"));
  if (profile.empty() || profile == "runtime/default" || profile == "unconfined" || profile.starts_with("localhost/"))
    return;
  errors.push_back(meta::Invalid(path, meta::Quoted(profile),
                                 fmt::format("invalid AppArmor profile name: {}", meta::Quoted(profile))));
}

void ValidateAnnotations(const meta::Object& pod, const meta::Object* old, const Check& spec) {
  meta::FieldErrors errors;
  const object& annotations = ObjectAt(pod.Metadata(), "annotations");
  const meta::Path path = meta::Path("metadata").Child("annotations");
  const auto text = [&](std::string_view key) { return meta::FindString(annotations, key); };
  if (annotations.contains(kMirrorAnnotation) && spec.Text("nodeName").empty()) {
    errors.push_back(meta::Invalid(path.Key(kMirrorAnnotation).ToString(), meta::Quoted(text(kMirrorAnnotation)),
                                   "must set spec.nodeName if mirror pod annotation is set"));
  }
  if (ActiveRuleFeatures().pod_deletion_cost && !IsDeletionCost(annotations) &&
      (!old || IsDeletionCost(ObjectAt(old->Metadata(), "annotations")))) {
    errors.push_back(meta::Invalid(path.Key(kDeletionCost).ToString(), meta::Quoted(text(kDeletionCost)),
                                   "must be a 32bit integer"));
  }
  if (annotations.contains(kSeccompPod)) ValidateSeccompAnnotation(text(kSeccompPod), path.Child(kSeccompPod), errors);
  for (const auto& [key, profile] : annotations) {
    const std::string_view name = key;
    if (name.starts_with(kSeccompContainer)) ValidateSeccompAnnotation(text(name), path.Child(name), errors);
  }
  std::optional<TextIndex> containers;  // collected once: a pod may have many annotations and many containers
  for (const auto& [key, profile] : annotations) {
    const std::string_view name = key;
    if (!name.starts_with(kAppArmorAnnotation)) continue;
    if (!containers) {
      containers.emplace();
      ForEachContainer(spec, [&](const Check& container) { containers->Add(container.Text("name")); });
    }
    ValidateAppArmorAnnotation(name, text(name), *containers, path.Key(name).ToString(), errors);
  }
  for (meta::FieldError& error : errors) spec.Add(std::move(error));
}

/// A token belongs to a service account, which the pod must have.
void ValidateTokenVolumes(const Check& spec) {
  if (!spec.Text("serviceAccountName").empty()) return;
  for (const Check& volume : spec.Each("volumes")) {
    const std::optional<Check> projected = volume.Child("projected");
    if (!projected) continue;
    for (const Check& source : projected->Each("sources"))
      source.Forbid("serviceAccountToken", "must not be specified when serviceAccountName is not set");
  }
}

/// Compares an annotation with the field of the same meaning. `what` is "seccomp" or "apparmor".
void CompareProfile(std::string_view annotation, const Check& profile, std::string_view what) {
  constexpr std::string_view kLocal = "localhost/";
  const std::string_view type = profile.Text("type");
  bool same = true;
  if (type == "Unconfined") {
    same = annotation == "unconfined";
  } else if (type == "RuntimeDefault") {
    same = annotation == "runtime/default" || (what == "seccomp" && annotation == "docker/default");
  } else if (type == "Localhost") {
    same = annotation.starts_with(kLocal);
    if (same && annotation.substr(kLocal.size()) != profile.Text("localhostProfile")) {
      profile.Add(meta::Forbidden(profile.Path().Child("localhostProfile").ToString(),
                                  fmt::format("{} profile in annotation and field must match", what)));
    }
  }
  if (!same) {
    profile.Add(meta::Forbidden(profile.Path().Child("type").ToString(),
                                fmt::format("{} type in annotation and field must match", what)));
  }
}

/// Returns the profile of a pod or a container.
std::optional<Check> ProfileOf(const Check& holder, std::string_view field) {
  const std::optional<Check> context = holder.Child("securityContext");
  return context ? context->Child(field) : std::nullopt;
}

}  // namespace

const object& PodSpecOf(const meta::Object& pod) { return ObjectAt(pod.Root(), "spec"); }

void CopyField(object& to, const object& from, std::string_view field) {
  if (const value* found = meta::FindField(from, field)) {
    to[field] = *found;
  } else {
    meta::EraseField(to, field);
  }
}

meta::FieldErrors ValidatePodContent(const meta::Object& pod, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec(PodSpecOf(pod), meta::Path("spec"), errors);
  ValidateAnnotations(pod, old, spec);
  errors.Append(ValidatePodSpec(spec.Object(), spec.Path(), pod.Name()));
  if (old && !errors.empty()) DropToleratedErrors(errors, PodSpecOf(*old), spec.Path(), pod.Name());
  ValidateTokenVolumes(spec);
  for (const char* list : {"containers", "initContainers"}) {
    for (const Check& container : spec.Each(list)) ValidateImageSpaces(container);
  }
  return errors;
}

void ValidateAnnotationChanges(const meta::Object& pod, const meta::Object& old, meta::FieldErrors& errors) {
  const object &now = ObjectAt(pod.Metadata(), "annotations"), &before = ObjectAt(old.Metadata(), "annotations");
  const meta::Path path = meta::Path("metadata").Child("annotations");
  const auto refuse = [&](std::string_view key, std::string_view action) {
    if (key.starts_with(kAppArmorAnnotation))
      errors.push_back(
          meta::Forbidden(path.Key(key).ToString(), fmt::format("may not {} AppArmor annotations", action)));
    if (key == kMirrorAnnotation)
      errors.push_back(
          meta::Forbidden(path.Key(key).ToString(), fmt::format("may not {} mirror pod annotation", action)));
  };
  for (const auto& [key, text] : before) {
    const value* found = now.if_contains(key);
    if (!found || *found != text) refuse(key, "remove or update");
  }
  for (const auto& [key, text] : now) {
    if (!before.contains(key)) refuse(key, "add");
  }
  ValidateAnnotations(pod, &old, Check(PodSpecOf(pod), meta::Path("spec"), errors));
}

void ValidateProfileAnnotations(const meta::Object& pod, meta::FieldErrors& errors) {
  const Check spec(ObjectAt(pod.Root(), "spec"), meta::Path("spec"), errors);
  const object& annotations = ObjectAt(pod.Metadata(), "annotations");
  if (annotations.empty()) return;
  const auto compare = [&](const std::string& key, const std::optional<Check>& profile, std::string_view what) {
    if (profile && annotations.contains(key)) CompareProfile(meta::FindString(annotations, key), *profile, what);
  };
  compare(std::string(kSeccompPod), ProfileOf(spec, "seccompProfile"), "seccomp");
  ForEachContainer(spec, [&](const Check& container) {
    compare(fmt::format("{}{}", kSeccompContainer, container.Text("name")), ProfileOf(container, "seccompProfile"),
            "seccomp");
  });
  if (meta::FindString(spec.Object(), "os", "name") == "windows") return;
  const std::optional<Check> of_pod = ProfileOf(spec, "appArmorProfile");
  ForEachContainer(spec, [&](const Check& container) {
    std::optional<Check> profile = ProfileOf(container, "appArmorProfile");
    if (!profile && of_pod) {  // errors name the container, whose annotation differs from the profile of the pod
      profile = Check(of_pod->Object(), container.Path().Child("securityContext").Child("appArmorProfile"), errors);
    }
    compare(fmt::format("{}{}", kAppArmorAnnotation, container.Text("name")), profile, "apparmor");
  });
}

}  // namespace apimesh::core_api
