#pragma once

#include "lib/meta/object.h"

namespace apimesh::admission {

/// Returns whether a toleration allows everything that `other` allows.
bool IsSuperset(const meta::json::object& toleration, const meta::json::object& other);

/// Adds tolerations to those of a pod's spec. Tolerations that another one includes are removed, unless there are more
/// than 1,000: each is compared with all others.
void MergeTolerations(meta::json::object& spec, const meta::json::array& more);

}  // namespace apimesh::admission
