#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/selector.h"

namespace apimesh::storage {

/// Where the parts of a stored object are that the cache needs; found in one pass, without making a document.
struct ScannedObject {
  std::string_view api_version;  // as written, without quotes
  meta::Labels labels;           // sorted
  std::vector<std::string> fields;

  std::size_t metadata_begin = 0;  // of its braces
  std::size_t metadata_end = 0;
  // Where resourceVersion is, or where it goes: text[begin, end) is replaced by `before`, the quoted number, `after`.
  std::size_t version_begin = 0;
  std::size_t version_end = 0;
  std::string_view before, after;
};

/// Paths ("spec.nodeName") cut into steps.
using FieldPaths = std::vector<std::vector<std::string>>;
FieldPaths SplitPaths(const std::vector<std::string>& paths);

/// nullopt: not the JSON of an object with metadata. Values outside of metadata and `paths` are only skipped over.
std::optional<ScannedObject> ScanObject(std::string_view text, const FieldPaths& paths);

}  // namespace apimesh::storage
