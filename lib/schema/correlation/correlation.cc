#include "lib/schema/correlation/correlation.h"

#include <algorithm>

#include "lib/meta/equal.h"
#include "lib/meta/json_text.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

/// Writes the keys of an item; returns false if it has none. The texts of different scalars differ.
bool WriteKeys(const json::value& item, const std::vector<std::string>& keys, std::string& out) {
  out.clear();
  if (!item.is_object()) return false;
  for (const std::string& key : keys) {
    const json::value* value = item.get_object().if_contains(key);
    if (!value || value->is_null() || value->is_structured()) return false;
    meta::AppendJsonText(out, *value);
    out += '\0';
  }
  return !keys.empty();
}

const Node* SchemaOf(const Node& node, std::string_view name) {
  const schema::Field* field = node.FindField(name);
  const Node* schema = field ? field->schema : node.type == Type::kList ? nullptr : node.items;
  // The fields that every resource has are no part of the schema of the definition.
  return schema && schema->custom && schema->rules ? schema : nullptr;
}

}  // namespace

ListMapIndex::ListMapIndex(const json::array& items, const std::vector<std::string>& keys) : keys_(keys) {
  std::string text;
  for (const json::value& item : items) {
    if (WriteKeys(item, keys_, text)) items_.try_emplace(text, &item);
  }
}

const json::value* ListMapIndex::Find(const json::value& item) const {
  std::string text;
  if (!WriteKeys(item, keys_, text)) return nullptr;
  const auto found = items_.find(text);
  return found == items_.end() ? nullptr : found->second;
}

const json::value* Correlation::Field(const json::object& before, const Node& node, std::string_view name) {
  return SchemaOf(node, name) ? meta::FindField(before, name) : nullptr;
}

const json::value* Correlation::Item(const json::value& item, const json::value& before, const Node& node) {
  if (!before.is_array() || node.list_type != ListType::kMap || !node.items) return nullptr;
  const json::array& list = before.get_array();
  const auto index = indexes_.try_emplace(&list, list, node.list_map_keys).first;
  return index->second.Find(item);
}

bool Correlation::Unchanged(const json::value& now, const json::value& before, const Node& node) {
  const auto known = unchanged_.find(&now);
  if (known != unchanged_.end()) return known->second;
  const bool same = Same(now, before, node);
  unchanged_.emplace(&now, same);
  return same;
}

bool Correlation::Same(const json::value& now, const json::value& before, const Node& node) {
  if (now.is_object() && before.is_object()) return SameObjects(now.get_object(), before.get_object(), node);
  if (now.is_array() && before.is_array()) return SameLists(now.get_array(), before, node);
  return meta::Equal(now, before);
}

bool Correlation::SameObjects(const json::object& now, const json::object& before, const Node& node) {
  if (now.size() != before.size()) return false;
  return std::all_of(now.begin(), now.end(), [&](const auto& field) {
    const Node* schema = SchemaOf(node, field.key());
    const json::value* old = schema ? meta::FindField(before, field.key()) : nullptr;
    if (!old) return false;
    const auto known = unchanged_.find(&field.value());
    return known != unchanged_.end() ? known->second : Same(field.value(), *old, *schema);
  });
}

bool Correlation::SameLists(const json::array& now, const json::value& before, const Node& node) {
  if (now.size() != before.get_array().size()) return false;
  if (node.list_type != ListType::kMap || !node.items) {
    return std::equal(now.begin(), now.end(), before.get_array().begin(),
                      [](const json::value& a, const json::value& b) { return meta::Equal(a, b); });
  }
  return std::all_of(now.begin(), now.end(), [&](const json::value& item) {
    const json::value* old = Item(item, before, node);
    return old && Same(item, *old, *node.items);
  });
}

}  // namespace apimesh::schema
