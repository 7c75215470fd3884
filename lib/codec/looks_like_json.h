#pragma once

#include <string_view>

#include "lib/base/text/trim.h"

namespace apimesh::codec {

/// Returns whether the first character after white space is "{". As in kube-apiserver, such a text is read as JSON, and
/// any other text as YAML. False for an empty text.
inline bool LooksLikeJson(std::string_view text) { return TrimSpace(text).starts_with('{'); }

}  // namespace apimesh::codec
