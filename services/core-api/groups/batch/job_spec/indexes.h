#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Sets of completion indexes as text: "1,3-5,7".
namespace apimesh::core_api {

/// Parses a set of indexes, which must be increasing and less than `completions`. `count` receives the number of
/// indexes. Returns the error, or "" if there is none.
std::string CheckIndexes(std::string_view indexes, std::int64_t completions, std::int64_t* count = nullptr);

/// Returns an error if two sets have an index in common, or "". Intervals that cannot be parsed are ignored.
std::string CheckDisjoint(std::string_view completed, std::string_view failed, std::int64_t completions);

}  // namespace apimesh::core_api
