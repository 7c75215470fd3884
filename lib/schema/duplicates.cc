#include "lib/schema/duplicates.h"

#include <algorithm>
#include <memory_resource>
#include <vector>

#include "lib/base/text/text_index.h"
#include "lib/meta/json_text.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

/// Returns the position of the first item of a list map that is neither an object nor null; the size if there is none.
std::size_t FirstBadItem(const json::array& array) {
  const auto bad = [](const json::value& item) { return !item.is_object() && !item.is_null(); };
  return static_cast<std::size_t>(std::find_if(array.begin(), array.end(), bad) - array.begin());
}

/// Appends the keys of an item of a list map as a JSON object.
void AppendKeys(std::string& out, const json::value& item, const Node& list) {
  out += '{';
  const std::size_t start = out.size();
  for (const std::string& key : list.list_map_keys) {
    const json::value* value = item.is_object() ? meta::FindField(item.get_object(), key) : nullptr;
    if (!value) {
      const Field* field = list.items ? list.items->FindField(key) : nullptr;
      if (field && field->default_value) value = &*field->default_value;
    }
    if (!value) continue;
    if (out.size() > start) out += ',';
    meta::AppendJsonText(out, json::string(key));
    out += ':';
    meta::AppendJsonText(out, *value);
  }
  out += '}';
}

}  // namespace

void CheckDuplicates(const json::value& value, const Node& node, const meta::PathChain& path,
                     meta::FieldErrors& errors) {
  if (!node.custom || errors.Full()) return;
  if (value.is_array() && node.items) {
    const json::array& array = value.get_array();
    std::pmr::monotonic_buffer_resource identities;
    TextIndex seen;
    std::vector<bool> complained;
    std::string identity;
    bool unique = node.list_type != ListType::kAtomic;
    if (node.list_type == ListType::kMap) {
      // Items without keys are reported instead of duplicates.
      if (const std::size_t bad = FirstBadItem(array); bad != array.size()) {
        unique = false;
        std::string shown;
        meta::AppendJsonText(shown, array[bad]);
        errors.push_back(
            meta::Invalid(path.Index(bad).ToString(), shown, "must be an object for an array of list-type map"));
      }
    }
    for (std::size_t i = 0; i < array.size() && !errors.Full(); ++i) {
      const meta::PathChain at = path.Index(i);
      if (unique) {
        identity.clear();
        node.list_type == ListType::kSet ? meta::AppendJsonText(identity, array[i])
                                         : AppendKeys(identity, array[i], node);
        char* const kept = static_cast<char*>(identities.allocate(identity.size() + 1, 1));
        identity.copy(kept, identity.size());
        const auto [first, is_new] = seen.Add({kept, identity.size()});
        if (is_new) {
          complained.push_back(false);
        } else if (!complained[first]) {
          complained[first] = true;
          errors.push_back(meta::Duplicate(at.ToString(), identity));
        }
      }
      CheckDuplicates(array[i], *node.items, at, errors);
    }
  } else if (value.is_object()) {
    for (const auto& [name, child] : value.get_object()) {
      const Field* field = node.FindField(name);
      const Node* schema = field ? field->schema : node.type == Type::kList ? nullptr : node.items;
      if (schema) CheckDuplicates(child, *schema, field ? path.Child(name) : path.Key(name), errors);
    }
  }
}

meta::FieldErrors FindDuplicates(const json::object& resource, const Node& node) {
  meta::FieldErrors errors;
  const meta::PathChain root;
  for (const auto& [name, value] : resource) {
    if (const Field* field = node.FindField(name)) CheckDuplicates(value, *field->schema, root.Child(name), errors);
  }
  return errors;
}

}  // namespace apimesh::schema
