#pragma once

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Adds the labels of the pod that matchLabelKeys and mismatchLabelKeys name to the label selectors of pod affinities
/// and topology spread constraints, as kube-apiserver does when a pod is created.
void ApplyMatchLabelKeys(meta::Object& pod);

}  // namespace apimesh::core_api
