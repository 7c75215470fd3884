#pragma once

#include <string>
#include <string_view>

namespace apimesh::registry {

/// The warning for a write of a control that this server keeps but does not act on: without it, the writer would rely on
/// the control. `what` is the subject of the sentence, in the plural.
inline std::string NotEnforced(std::string_view what) {
  return std::string(what) + " are stored but not enforced by this server: they have no effect";
}

}  // namespace apimesh::registry
