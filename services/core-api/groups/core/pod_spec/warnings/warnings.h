#pragma once

#include <string>
#include <vector>

#include "services/core-api/validation/check.h"

/// Warnings about pods and pod templates that are valid but do not do what their author may expect. Warnings are in the
/// order of kube-apiserver.
namespace apimesh::core_api {

enum class WarningsFor { kPod, kTemplate };
/// Returns the warnings about a pod or a pod template. The list of errors of `pod` is not used.
std::vector<std::string> PodWarnings(const Check& pod, WarningsFor what);
/// Loops over pairs of items end at this number of warnings, which is more than a response shows.
inline constexpr std::size_t kMaxPodWarnings = 1000;

// The parts of PodWarnings() that have their own file. `spec` is the pod spec.
void WarnAboutVolumes(const Check& spec, std::vector<std::string>& warnings);
/// Reports files of a volume that overwrite each other.
void WarnAboutFiles(const Check& spec, std::vector<std::string>& warnings);
/// Reports an amount of bytes that is not a whole number.
void WarnAboutFraction(const Check& amounts, std::string_view name, std::vector<std::string>& warnings);
void WarnAboutScheduling(const Check& spec, std::vector<std::string>& warnings);
void WarnAboutPodAffinity(const Check& spec, std::vector<std::string>& warnings);

/// Returns the warnings about the field "template" of `holder`, whose path is `path`.
std::vector<std::string> TemplateWarningsOf(const meta::json::object& holder, const meta::Path& path);
/// Returns the warnings about spec.template of an object.
std::vector<std::string> SpecTemplateWarnings(const meta::Object& object);

}  // namespace apimesh::core_api
