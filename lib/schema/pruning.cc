#include "lib/schema/pruning.h"

#include <algorithm>

#include "lib/meta/errors/path_chain.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::PathChain;

bool IsMetaField(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

class Pruner {
 public:
  std::vector<std::string> TakePaths() {
    std::sort(paths_.begin(), paths_.end());
    return std::move(paths_);
  }

  /// Prunes a value. If `node` is nullptr, no field is specified and all fields are removed.
  void Value(json::value& value, const Node* node, const PathChain& path, bool resource, bool preserve = false) {
    preserve = preserve || (node && node->preserve_unknown_fields);
    if (value.is_object()) {
      Object(value.get_object(), node, &path, resource || (node && node->embedded_resource), preserve);
    } else if (value.is_array()) {
      std::size_t index = 0;
      const Node* items = node && node->type == Type::kList ? node->items : nullptr;
      // If unknown fields are preserved, elements without a schema are kept unchanged, and other elements keep theirs.
      if (!items && preserve) return;
      for (json::value& element : value.get_array()) Value(element, items, path.Index(index++), false, preserve);
    }
  }

  /// `path` is nullptr for the resource itself.
  void Object(json::object& object, const Node* node, const PathChain* path, bool resource, bool preserve) {
    meta::EraseFields(object, [&](std::string_view key, json::value& value) {
      if (resource && IsMetaField(key)) return false;
      const Field* field = node ? node->FindField(key) : nullptr;
      const Node* child = field ? field->schema : node && node->type != Type::kList ? node->items : nullptr;
      if (!child && !preserve) {
        if (!IsMetaField(key) || path) Note(path, key);
        return true;
      }
      if (child) Value(value, child, (path ? *path : root_).Child(key), false);
      return false;
    });
  }

 private:
  // Strict decoding reports fewer paths than this. A path can be as long as the document, so the total length is
  // limited too.
  static constexpr std::size_t kMaxPaths = 1000;
  static constexpr std::size_t kMaxPathBytes = 1 << 20;

  void Note(const PathChain* path, std::string_view key) {
    if (paths_.size() >= kMaxPaths || path_bytes_ >= kMaxPathBytes) return;
    paths_.push_back(path ? path->Child(key).ToString() : std::string(key));
    path_bytes_ += paths_.back().size();
  }

  const PathChain root_{};
  std::vector<std::string> paths_;
  std::size_t path_bytes_ = 0;
};

}  // namespace

std::vector<std::string> Prune(json::object& resource, const Node& node) {
  Pruner pruner;
  pruner.Object(resource, &node, nullptr, true, node.preserve_unknown_fields);
  return pruner.TakePaths();
}

}  // namespace apimesh::schema
