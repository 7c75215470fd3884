#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::admission::limit_ranger {

/// Fills in the resources that the limit range has defaults for and that the containers of the pod do not set. Records
/// what was set in the annotation kubernetes.io/limit-ranger.
void SetDefaults(const meta::Object& limit_range, meta::Object& pod);

/// Returns a message for each limit that the pod violates.
std::vector<std::string> CheckPod(const meta::Object& limit_range, const meta::Object& pod);
/// Returns a message for each limit that the PersistentVolumeClaim violates.
std::vector<std::string> CheckClaim(const meta::Object& limit_range, const meta::Object& claim);

}  // namespace apimesh::admission::limit_ranger
