#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/cel/value/value.h"

namespace re2 {
class RE2;
}

namespace apimesh::cel {

/// Compiles a pattern. On failure, returns null and sets `error` to the text of Go's regexp package.
std::shared_ptr<const re2::RE2> CompilePattern(std::string_view pattern, std::string& error);
/// Computes matches, find or findAll; args[1] is not used.
Value EvalPattern(std::string_view function, const re2::RE2& pattern, std::span<const Value> args, Arena& arena);

}  // namespace apimesh::cel
