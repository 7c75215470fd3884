#include "lib/schema/pruning.h"

#include <fmt/format.h>

#include <algorithm>

namespace apimesh::schema {
namespace {

namespace json = meta::json;

bool IsMetaField(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

class Pruner {
 public:
  std::vector<std::string> TakePaths() {
    std::sort(paths_.begin(), paths_.end());
    return std::move(paths_);
  }

  /// `node` may be nullptr: nothing is known, so nothing stays.
  void Value(json::value& value, const Node* node, bool resource, bool preserve = false) {
    preserve = preserve || (node && node->preserve_unknown_fields);
    if (value.is_object()) {
      Object(value.get_object(), node, resource || (node && node->embedded_resource), preserve);
    } else if (value.is_array()) {
      std::size_t index = 0;
      const std::size_t mark = path_.size();
      for (json::value& element : value.get_array()) {
        path_ += fmt::format("[{}]", index++);
        const Node* items = node && node->type == Type::kList ? node->items : nullptr;
        // Below a list that keeps what it does not know, elements of unknown shape keep everything.
        if (items || !preserve) Value(element, items, false, preserve && items == nullptr);
        path_.resize(mark);
      }
    }
  }

  void Object(json::object& object, const Node* node, bool resource, bool preserve) {
    const std::size_t mark = path_.size();
    meta::EraseFields(object, [&](std::string_view key, json::value& value) {
      if (resource && IsMetaField(key)) return false;
      const Field* field = node ? node->FindField(key) : nullptr;
      const Node* child = field ? field->schema : node && node->type != Type::kList ? node->items : nullptr;
      if (!child && !preserve) {
        if (!IsMetaField(key) || !path_.empty()) Note(key);
        return true;
      }
      if (!child) return false;
      if (!path_.empty()) path_ += '.';
      path_ += key;
      Value(value, child, false);
      path_.resize(mark);
      return false;
    });
  }

 private:
  // More than strict decoding ever shows. A path can be as long as the document, so their total length counts as well.
  static constexpr std::size_t kMaxPaths = 1000;
  static constexpr std::size_t kMaxPathBytes = 1 << 20;

  void Note(std::string_view key) {
    if (paths_.size() >= kMaxPaths || path_bytes_ >= kMaxPathBytes) return;
    paths_.push_back(path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
    path_bytes_ += paths_.back().size();
  }

  std::string path_;
  std::vector<std::string> paths_;
  std::size_t path_bytes_ = 0;
};

}  // namespace

std::vector<std::string> Prune(json::object& resource, const Node& node) {
  Pruner pruner;
  pruner.Object(resource, &node, true, node.preserve_unknown_fields);
  return pruner.TakePaths();
}

}  // namespace apimesh::schema
