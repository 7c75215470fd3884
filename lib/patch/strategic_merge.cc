#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "lib/base/seeded_hash.h"
#include "lib/patch/go_text.h"
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

/// What the schema says about one field. Without a schema (raw JSON) everything is replaced or merged as plain JSON.
struct FieldRule {
  const schema::Node* node = nullptr;  // of the value; of the elements for a list
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

/// Takes directives out of a value that is used as it is. False: the value itself is one and must not be kept.
bool RemoveDirectives(json::value& value) {
  if (json::object* object = value.if_object()) {
    if (object->contains(kDirective)) return false;
    meta::EraseFields(*object, [](std::string_view key, json::value& one) {
      const bool directive = key == kRetainKeys || key.starts_with(kDeleteFromList) || key.starts_with(kSetElementOrder);
      return directive || !RemoveDirectives(one);
    });
  } else if (json::array* array = value.if_array()) {
    array->erase(std::remove_if(array->begin(), array->end(), [](json::value& one) { return !RemoveDirectives(one); }), array->end());
  }
  return true;
}

/// Nulls in a value that has no counterpart delete nothing and are dropped.
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

/// What makes two items of a list the same: the merge key of objects, the value of scalars. Empty: an object without the key,
/// which is the same as no other.
std::string IdentityOf(const json::value& item, std::string_view key) {
  if (key.empty() || !item.is_object()) return json::serialize(item);
  const json::value* value = meta::FindField(item.get_object(), key);
  return value ? json::serialize(*value) : std::string();
}

/// Where the items of a list are, by their identity. Lists have tens of thousands of items, so they are never searched
/// item by item.
class Positions {
 public:
  explicit Positions(std::string_view key) : key_(key) {}
  Positions(const json::array& list, std::string_view key) : key_(key) {
    for (std::size_t i = 0; i < list.size(); ++i) Add(list[i], i);
  }

  void Add(const json::value& item, std::size_t position) {
    std::string identity = IdentityOf(item, key_);
    if (!identity.empty()) first_.try_emplace(std::move(identity), static_cast<std::ptrdiff_t>(position));
  }
  /// The first position of an item that is the same as `item`; -1 if there is none.
  std::ptrdiff_t Find(const json::value& item) const {
    const auto it = first_.find(IdentityOf(item, key_));
    return it == first_.end() ? -1 : it->second;
  }

 private:
  std::string_view key_;
  std::unordered_map<std::string, std::ptrdiff_t, SeededHash> first_;
};

/// Puts what the patch names into its order, and what only the server has where it was before.
Result<json::array> Reorder(json::array merged, const json::array& patch_order, const json::array& server_order,
                            std::string_view key) {
  if (!key.empty()) {
    for (const json::array* list : std::initializer_list<const json::array*>{&merged, &patch_order, &server_order}) {
      for (const json::value& item : *list) {
        if (item.is_object() && !meta::FindField(item.get_object(), key)) return NoMergeKey(item.get_object(), key);
      }
    }
  }
  struct Placed {
    json::value item;
    std::ptrdiff_t at_server;
    std::ptrdiff_t at_patch;
  };
  std::vector<Placed> from_patch;
  std::vector<Placed> server_only;
  const Positions patch_positions(patch_order, key), server_positions(server_order, key);
  for (json::value& item : merged) {
    const std::ptrdiff_t at_patch = patch_positions.Find(item);
    const std::ptrdiff_t at_server = server_positions.Find(item);
    (at_patch >= 0 ? from_patch : server_only).push_back({std::move(item), at_server, at_patch});
  }
  std::stable_sort(from_patch.begin(), from_patch.end(),
                   [](const Placed& a, const Placed& b) { return a.at_patch < b.at_patch; });
  std::stable_sort(server_only.begin(), server_only.end(),
                   [](const Placed& a, const Placed& b) { return a.at_server < b.at_server; });
  json::array out(merged.storage());
  std::size_t left = 0;
  std::size_t right = 0;
  while (left < server_only.size() || right < from_patch.size()) {
    bool take_left = right >= from_patch.size();
    if (!take_left && left < server_only.size()) {
      const std::ptrdiff_t a = server_only[left].at_server;
      const std::ptrdiff_t b = from_patch[right].at_server;
      take_left = a >= 0 && b >= 0 && a < b;
    }
    out.push_back(std::move(take_left ? server_only[left++].item : from_patch[right++].item));
  }
  return out;
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
    // All fields that the patch deletes go at once: removing one moves those behind it.
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

  /// $retainKeys: the patch names every key that stays.
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

  /// $setElementOrder/x together with the list x itself, which it takes out of the patch.
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
      RETURN_IF_ERROR(CheckOrder(given ? given->get_array() : json::array(), order, rule.merge_key));
      if (!current && !given) continue;
      const json::array before = current ? current->get_array() : json::array();
      json::array merged(original.storage());
      if (!given) {
        merged = before;
      } else if (!current) {
        json::value added = *given;
        RemoveDirectives(added);
        merged = std::move(added.get_array());
      } else {
        ASSIGN_OR_RETURN(merged, MergeList(std::move(current->get_array()), given->get_array(), rule, false));
      }
      ASSIGN_OR_RETURN(json::array ordered, Reorder(std::move(merged), order, before, rule.merge_key));
      original[key] = std::move(ordered);
      merged_keys.insert(key);
    }
    if (!merged_keys.empty()) {
      meta::EraseFields(patch, [&merged_keys](std::string_view key, const json::value&) { return merged_keys.contains(key); });
    }
    return {};
  }

  /// The items of the patch must come in the order that the directive gives.
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
      original.erase(std::remove_if(original.begin(), original.end(), [&](const json::value& item) { return deleted.Find(item) >= 0; }),
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
    return Reorder(std::move(merged), patch, original, "");
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
      const auto is_deleted = [&](const json::value& item) { return deleted.contains(IdentityOf(item, rule.merge_key)); };
      original.erase(std::remove_if(original.begin(), original.end(), is_deleted), original.end());
    }
    if (replace) {
      original = std::move(plain);
      plain.clear();
    }
    const json::array before = original;
    Positions known(original, rule.merge_key);
    for (json::value& item : plain) {
      if (!meta::FindField(item.get_object(), rule.merge_key)) return NoMergeKey(item.get_object(), rule.merge_key);
      const std::ptrdiff_t at = known.Find(item);
      if (at < 0) {
        known.Add(item, original.size());
        original.push_back(item);
        continue;
      }
      RETURN_IF_ERROR(MergeMap(original[static_cast<std::size_t>(at)].get_object(), item.get_object(), rule.node));
    }
    return Reorder(std::move(original), plain, before, rule.merge_key);
  }
};

}  // namespace

Result<> ApplyStrategicMergePatch(json::object& document, const json::object& patch, const schema::Node& node) {
  return Merger().MergeMap(document, json::object(patch, document.storage()), &node);
}

}  // namespace apimesh::patch
