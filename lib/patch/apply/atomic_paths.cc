#include <fmt/format.h>

#include "lib/patch/apply/typed.h"
#include "lib/patch/apply/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

void AddAtomics(const schema::Node& node, const json::value& value, const std::string& path,
                std::vector<std::string>& out) {
  constexpr std::size_t kMaxPaths = 1000;  // each of 100,000 items could be atomic
  if (out.size() >= kMaxPaths || value.is_null()) return;
  const Shape shape = ShapeOf(node, value);
  if (shape == Shape::kMap && value.is_object()) {
    if (IsAtomicMap(node)) out.push_back(path);
    for (const auto& [key, child] : value.get_object()) {
      const schema::Field* field = nullptr;
      const schema::Node* child_node = NodeOfKey(node, key, &field);
      if (field && child_node) AddAtomics(*child_node, child, fmt::format("{}.{}", path, std::string_view(key)), out);
    }
  } else if (shape == Shape::kList && value.is_array()) {
    if (IsAtomicList(node)) out.push_back(path);
    std::size_t index = 0;
    for (const json::value& item : value.get_array())
      AddAtomics(NodeOfItem(node), item, fmt::format("{}[{}]", path, index++), out);
  }
}

}  // namespace

std::vector<std::string> AtomicPaths(const schema::Node& node, const json::object& value) {
  std::vector<std::string> out;
  for (const auto& [key, child] : value) {
    const schema::Field* field = nullptr;
    const schema::Node* child_node = NodeOfKey(node, key, &field);
    if (field && child_node) AddAtomics(*child_node, child, fmt::format(".{}", std::string_view(key)), out);
  }
  return out;
}

}  // namespace apimesh::patch
