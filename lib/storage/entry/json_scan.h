#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/selectors/selector.h"

namespace apimesh::storage {

/// The parts of a stored object that the cache needs. They are found in one pass, without building a document.
struct ScannedObject {
  std::string_view api_version;  // the text between the quotes
  meta::Labels labels;           // sorted
  std::vector<std::string> fields;

  std::size_t metadata_begin = 0;  // the offset of the opening brace of the metadata
  std::size_t metadata_end = 0;
  // The position of resourceVersion, or the position where it is inserted: text[begin, end) is replaced by `before`,
  // the quoted number and `after`.
  std::size_t version_begin = 0;
  std::size_t version_end = 0;
  std::string_view before, after;
};

/// Field paths ("spec.nodeName"), split at the dots.
using FieldPaths = std::vector<std::vector<std::string>>;
FieldPaths SplitPaths(const std::vector<std::string>& paths);

/// Returns nullopt if `text` is not the JSON of an object with metadata. Values outside of metadata and `paths` are
/// skipped without being checked.
std::optional<ScannedObject> ScanObject(std::string_view text, const FieldPaths& paths);

}  // namespace apimesh::storage
