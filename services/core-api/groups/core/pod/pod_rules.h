#pragma once

#include "lib/meta/request/request_context.h"
#include "services/core-api/validation/check.h"

/// Rules that apply to pods, but not to pod templates.
namespace apimesh::core_api {

/// Returns the spec of a pod, which is empty if there is none.
const meta::json::object& PodSpecOf(const meta::Object& pod);
/// Makes a field equal to that of another object, where it may be missing.
void CopyField(meta::json::object& to, const meta::json::object& from, std::string_view field);

/// Validates the annotations that have a meaning for pods, and the spec. `old` is nullptr for a new pod; in an update,
/// values that kube-apiserver accepted in older versions may stay.
meta::FieldErrors ValidatePodContent(const meta::Object& pod, const meta::Object* old);
/// Validates the annotations that have a meaning for pods, of which some cannot change.
void ValidateAnnotationChanges(const meta::Object& pod, const meta::Object& old, meta::FieldErrors& errors);
/// Checks that the deprecated annotations for seccomp and AppArmor profiles agree with the fields that replaced them.
void ValidateProfileAnnotations(const meta::Object& pod, meta::FieldErrors& errors);

/// Sets the AppArmor profiles of containers that have none from the deprecated annotations of a new pod, with a warning
/// for each.
void ApplyAppArmorAnnotations(const meta::RequestContext& ctx, meta::Object& pod);

inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

}  // namespace apimesh::core_api
