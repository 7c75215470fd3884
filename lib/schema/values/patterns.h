#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace apimesh::schema {

/// The total size of the different patterns of one definition, in instructions of RE2. A repetition multiplies what it
/// repeats, so 2 MB of patterns can have 15 million instructions, each of which takes nearly a microsecond to compile.
inline constexpr std::size_t kMaxPatternInstructions = 200'000;

/// Compiles a pattern. Equal patterns are compiled once, as long as one of them is in use or was among the last ones.
/// Thread-safe.
std::shared_ptr<const re2::RE2> CompilePattern(const std::string& pattern);

}  // namespace apimesh::schema
