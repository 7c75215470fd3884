#pragma once

#include <fmt/format.h>

#include "lib/admission/plugin.h"

namespace apimesh::admission::node_restriction {

/// Returns a 403 error with a formatted reason.
template <class... Values>
meta::ApiError Refuse(const Attributes& attributes, fmt::format_string<Values...> reason, Values&&... values) {
  return Forbidden(attributes, fmt::format(reason, std::forward<Values>(values)...));
}

}  // namespace apimesh::admission::node_restriction
