#pragma once

#include <string>
#include <string_view>

namespace apimesh::codec {

/// Checks the flow collections ([a, b], {a: b}) of a YAML text before the YAML library reads it. The library reads such a
/// collection to its end before it delivers the first part of it, and needs about 200 bytes for each bracket, comma and scalar.
/// Returns the problem, or nothing. Block collections and scalars are delivered piece by piece and are not limited here.
std::string FlowProblem(std::string_view text, std::size_t max_depth, std::size_t max_tokens);

}  // namespace apimesh::codec
