#pragma once

#include <string_view>

#include "lib/meta/api_error.h"

/// Errors of patches that are no ordinary Status: the reference lets plain Go errors through.
namespace apimesh::patch {

/// 422 of a patch that does not fit its document. The reference hides what is wrong.
meta::ApiError DoesNotApply();
/// 500 with a text and no reason.
meta::ApiError PlainError(std::string_view message);

}  // namespace apimesh::patch
