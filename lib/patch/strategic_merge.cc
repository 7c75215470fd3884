#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "lib/meta/json_text.h"
#include "lib/patch/apply/field_set.h"
#include "lib/patch/go_text.h"
#include "lib/patch/list_positions.h"
#include "lib/patch/patch.h"
#include "lib/patch/patch_error.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using meta::Result;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";

/// The patch strategy of one field. Without a schema (raw JSON), values are replaced or merged as plain JSON.
struct FieldRule {
  const schema::Node* node = nullptr;  // the schema of the value, or of the elements of a list
  bool merge = false;
  std::string_view merge_key;
};

Result<FieldRule> RuleOf(const schema::Node* parent, std::string_view name, bool list) {
  FieldRule rule;
  if (!parent || parent->type == schema::Type::kAny) return rule;
  if (parent->type == schema::Type::kMap) {
    rule.node = parent->items;
  } else if (const schema::Field* field = parent->FindField(name)) {
    rule.node = field->schema;
    rule.merge = field->patch_merge;
    rule.merge_key = field->patch_merge_key;
  } else {
    return PlainError(fmt::format("unable to find api field in struct {} for the json field {}", GoTypeName(*parent),
                                  meta::Quoted(name)));
  }
  if (list && rule.node) rule.node = rule.node->items;
  return rule;
}

/// Removes directives from a value that is used without merging. Returns false if the value itself is a directive and
/// must be dropped.
bool RemoveDirectives(json::value& value) {
  if (json::object* object = value.if_object()) {
    if (object->contains(kDirective)) return false;
    meta::EraseFields(*object, [](std::string_view key, json::value& one) {
      const bool directive =
          key == kRetainKeys || key.starts_with(kDeleteFromList) || key.starts_with(kSetElementOrder);
      return directive || !RemoveDirectives(one);
    });
  } else if (json::array* array = value.if_array()) {
    array->erase(std::remove_if(array->begin(), array->end(), [](json::value& one) { return !RemoveDirectives(one); }),
                 array->end());
  }
  return true;
}

/// Removes nulls from a value that has no counterpart in the document: they delete nothing.
void DiscardNulls(json::value& value) {
  if (json::object* object = value.if_object()) {
    meta::EraseFields(*object, [](std::string_view, json::value& one) {
      if (one.is_null()) return true;
      DiscardNulls(one);
      return false;
    });
  } else if (json::array* array = value.if_array()) {
    for (json::value& one : *array) DiscardNulls(one);
  }
}

meta::ApiError NoMergeKey(const json::object& item, std::string_view key) {
  return PlainError(fmt::format("map: {} does not contain declared merge key: {}", GoText(item), key));
}

/// Returns an error if an object in the list has no merge key.
Result<> RequireKeys(const json::array& list, std::string_view key) {
  if (key.empty()) return {};
  for (const json::value& item : list) {
    if (item.is_object() && !meta::FindField(item.get_object(), key)) return NoMergeKey(item.get_object(), key);
  }
  return {};
}

class Merger {
 public:
  Result<> MergeMap(json::object& original, json::object patch, const schema::Node* node) {
    if (const json::value* directive = meta::FindField(patch, kDirective)) {
      const std::string_view what = directive->is_string() ? std::string_view(directive->get_string()) : "";
      if (what == "delete") {
        original.clear();
        return {};
      }
      if (what != "replace") {
        return PlainError(fmt::format("unknown patch type: {} in map: {}", GoText(*directive), GoText(patch)));
      }
      meta::EraseField(patch, kDirective);
      original = std::move(patch);
      return {};
    }
    RETURN_IF_ERROR(RetainKeys(original, patch));
    RETURN_IF_ERROR(MergeOrderedLists(original, patch, node));
    // All fields that the patch deletes are removed in one pass, because each removal moves the fields after it.
    meta::EraseFields(original, [&patch](std::string_view key, const json::value&) {
      const json::value* given = meta::FindField(patch, key);
      return given && given->is_null();
    });
    for (auto& [raw_key, value] : patch) {
      std::string key(raw_key);
      const bool delete_list = key.starts_with(kDeleteFromList);
      if (delete_list) key.erase(0, kDeleteFromList.size());
      RETURN_IF_ERROR(MergeField(original, key, std::move(value), node, delete_list));
    }
    return {};
  }

 private:
  Result<> MergeField(json::object& original, const std::string& key, json::value value, const schema::Node* node,
                      bool delete_list) {
    if (value.is_null()) {
      meta::EraseField(original, key);
      return {};
    }
    json::value* current = meta::FindField(original, key);
    if (!current || current->is_object() != value.is_object() || current->is_array() != value.is_array()) {
      if (delete_list) return {};
      DiscardNulls(value);
      if (RemoveDirectives(value)) {
        original[key] = std::move(value);
      } else {
        meta::EraseField(original, key);
      }
      return {};
    }
    if (current->is_object()) {
      ASSIGN_OR_RETURN(const FieldRule rule, RuleOf(node, key, false));
      return MergeMap(current->get_object(), std::move(value.get_object()), rule.node);
    }
    if (current->is_array()) {
      ASSIGN_OR_RETURN(const FieldRule rule, RuleOf(node, key, true));
      ASSIGN_OR_RETURN(json::array merged,
                       MergeList(std::move(current->get_array()), std::move(value.get_array()), rule, delete_list));
      *current = std::move(merged);
      return {};
    }
    *current = std::move(value);
    return {};
  }

  /// Handles $retainKeys, which lists every key that stays.
  Result<> RetainKeys(json::object& original, json::object& patch) {
    const json::value* found = meta::FindField(patch, kRetainKeys);
    if (!found) return {};
    if (!found->is_array()) return meta::BadRequest("invalid patch format of retainKeys");
    std::set<std::string, std::less<>> keep;
    for (const json::value& key : found->get_array()) {
      if (key.is_string()) keep.emplace(key.get_string());
    }
    const auto kept = [&](std::string_view key) { return keep.contains(key); };
    meta::EraseField(patch, kRetainKeys);
    for (const auto& [key, value] : patch) {
      const std::string_view name = key;
      if (value.is_null() || name.starts_with(kDeleteFromList) || name.starts_with(kSetElementOrder)) continue;
      if (!kept(name)) return meta::BadRequest("invalid patch format of retainKeys");
    }
    meta::EraseFields(original, [&kept](std::string_view key, const json::value&) { return !kept(key); });
    return {};
  }

  /// Handles $setElementOrder/x together with the list x, which is removed from the patch.
  Result<> MergeOrderedLists(json::object& original, json::object& patch, const schema::Node* node) {
    std::vector<std::pair<std::string, json::value>> directives;
    meta::EraseFields(patch, [&directives](std::string_view key, json::value& value) {
      if (!key.starts_with(kSetElementOrder)) return false;
      directives.emplace_back(key.substr(kSetElementOrder.size()), std::move(value));
      return true;
    });
    std::set<std::string_view> merged_keys;
    for (const auto& [key, order_value] : directives) {
      if (!order_value.is_array()) {
        return PlainError(fmt::format("expected a []interface {{}}, but received a {}", GoTypeOf(order_value)));
      }
      const json::array& order = order_value.get_array();
      json::value* current = meta::FindField(original, key);
      json::value* given = meta::FindField(patch, key);
      for (const json::value* one : {current, given}) {
        if (one && !one->is_array()) {
          return PlainError(fmt::format("expected a []interface {{}}, but received a {}", GoTypeOf(*one)));
        }
      }
      ASSIGN_OR_RETURN(const FieldRule rule, RuleOf(node, key, true));
      const json::array nothing;
      const json::array& items = given ? given->get_array() : nothing;
      RETURN_IF_ERROR(CheckOrder(items, order, rule.merge_key));
      if (!current && !given) continue;
      const json::array& server = current ? current->get_array() : nothing;
      const Positions server_order(server, rule.merge_key);
      const Result<> server_has_keys = RequireKeys(server, rule.merge_key);
      json::array merged(original.storage());
      if (!given) {
        merged = std::move(current->get_array());
      } else if (!current) {
        RemoveDirectives(*given);
        merged = std::move(given->get_array());
      } else {
        ASSIGN_OR_RETURN(merged,
                         MergeList(std::move(current->get_array()), std::move(given->get_array()), rule, false));
      }
      RETURN_IF_ERROR(RequireKeys(merged, rule.merge_key));
      RETURN_IF_ERROR(RequireKeys(order, rule.merge_key));
      RETURN_IF_ERROR(server_has_keys);
      original[key] = Reorder(std::move(merged), Positions(order, rule.merge_key), server_order);
      merged_keys.insert(key);
    }
    if (!merged_keys.empty()) {
      meta::EraseFields(patch,
                        [&merged_keys](std::string_view key, const json::value&) { return merged_keys.contains(key); });
    }
    return {};
  }

  /// Checks that the items of the patch have the order of the directive.
  static Result<> CheckOrder(const json::array& items, const json::array& order, std::string_view key) {
    if (items.empty() || order.empty()) return {};
    std::size_t at = 0;
    for (const json::value& item : items) {
      if (item.is_object() && item.get_object().contains(kDirective)) continue;
      const std::string identity = IdentityOf(item, key);
      while (at < order.size() && (identity.empty() || IdentityOf(order[at], key) != identity)) ++at;
      if (at == order.size()) {
        return PlainError(fmt::format("The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                                      GoText(items), GoText(order)));
      }
      ++at;
    }
    return {};
  }

  Result<json::array> MergeList(json::array original, json::array patch, const FieldRule& rule, bool delete_list) {
    if (!rule.merge && !delete_list) return patch;
    if (original.empty() && patch.empty()) return original;
    const json::value& sample = original.empty() ? patch[0] : original[0];
    if (sample.is_array()) return DoesNotApply();
    for (const json::array* list : {&original, &patch}) {
      for (const json::value& item : *list) {
        if (GoTypeOf(item) == GoTypeOf(sample)) continue;
        return PlainError(
            fmt::format("list element types are not identical: [{} {}]", GoText(original), GoText(patch)));
      }
    }
    if (!sample.is_object()) return MergeScalars(std::move(original), patch, delete_list);
    if (rule.merge_key.empty()) {
      return PlainError("cannot merge lists without merge key for struct");
    }
    return MergeObjects(std::move(original), std::move(patch), rule);
  }

  static Result<json::array> MergeScalars(json::array original, const json::array& patch, bool delete_list) {
    if (delete_list) {
      const Positions deleted(patch, "");
      original.erase(std::remove_if(original.begin(), original.end(),
                                    [&](const json::value& item) { return deleted.Find(item) >= 0; }),
                     original.end());
      return original;
    }
    json::array merged(original.storage());
    Positions known("");
    for (const json::array* list : std::initializer_list<const json::array*>{&original, &patch}) {
      for (const json::value& item : *list) {
        if (known.Find(item) >= 0) continue;
        known.Add(item, merged.size());
        merged.push_back(item);
      }
    }
    return Reorder(std::move(merged), Positions(patch, ""), Positions(original, ""));
  }

  Result<json::array> MergeObjects(json::array original, json::array patch, const FieldRule& rule) {
    json::array plain(patch.storage());
    std::set<std::string> deleted;
    bool replace = false;
    for (json::value& item : patch) {
      const json::object& object = item.get_object();
      const json::value* directive = meta::FindField(object, kDirective);
      if (!directive) {
        plain.push_back(std::move(item));
        continue;
      }
      const std::string_view what = directive->is_string() ? std::string_view(directive->get_string()) : "";
      if (what == "delete") {
        if (!meta::FindField(object, rule.merge_key)) return NoMergeKey(object, rule.merge_key);
        deleted.insert(IdentityOf(item, rule.merge_key));
      } else if (what == "replace") {
        replace = true;
      } else if (what == "merge") {
        return PlainError("merging lists cannot yet be specified in the patch");
      } else {
        return PlainError(fmt::format("unknown patch type: {} in map: {}", GoText(*directive), GoText(object)));
      }
    }
    if (!deleted.empty()) {
      const auto is_deleted = [&](const json::value& item) {
        return deleted.contains(IdentityOf(item, rule.merge_key));
      };
      original.erase(std::remove_if(original.begin(), original.end(), is_deleted), original.end());
    }
    if (replace) {
      original = std::move(plain);
      plain.clear();
    }
    const Positions patch_order(plain, rule.merge_key), server_order(original, rule.merge_key);
    Positions added(rule.merge_key);
    for (json::value& item : plain) {
      if (!meta::FindField(item.get_object(), rule.merge_key)) return NoMergeKey(item.get_object(), rule.merge_key);
      std::ptrdiff_t at = server_order.Find(item);
      if (at < 0) at = added.Find(item);
      if (at < 0) {
        added.Add(item, original.size());
        original.push_back(std::move(item));
        continue;
      }
      RETURN_IF_ERROR(
          MergeMap(original[static_cast<std::size_t>(at)].get_object(), std::move(item.get_object()), rule.node));
    }
    RETURN_IF_ERROR(RequireKeys(original, rule.merge_key));
    return Reorder(std::move(original), patch_order, server_order);
  }
};

}  // namespace

Result<> ApplyStrategicMergePatch(json::object& document, const json::object& patch, const schema::Node& node) {
  return Merger().MergeMap(document, json::object(patch, document.storage()), &node);
}

}  // namespace apimesh::patch
