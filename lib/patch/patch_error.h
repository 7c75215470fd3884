#pragma once

#include "lib/meta/errors/other_errors.h"

/// Errors of patches for which kube-apiserver returns a plain Go error instead of an ordinary Status.
namespace apimesh::patch {

/// 422 for a patch that cannot be applied to its document. As in kube-apiserver, the text does not say why.
meta::ApiError DoesNotApply();
using meta::PlainError;

}  // namespace apimesh::patch
