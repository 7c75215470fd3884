#include "lib/codec/zero_values.h"

#include <vector>

#include "lib/base/text/sort_by_text.h"

namespace apimesh::codec {

namespace json = meta::json;
using schema::Type;

json::value ZeroValue(const schema::Node& node) {
  switch (node.type) {
    case Type::kObject: return json::object();
    case Type::kString: return "";
    case Type::kBoolean: return false;
    case Type::kInteger:
    case Type::kNumber:
    case Type::kIntOrString: return 0;
    case Type::kQuantity: return "0";
    case Type::kDuration: return "0s";
    default: return nullptr;
  }
}

bool IsEmpty(const json::value& value, const schema::Node& node) {
  switch (node.type) {
    case Type::kString:
    case Type::kBytes: return value.is_string() && value.get_string().empty();
    case Type::kBoolean: return value.is_bool() && !value.get_bool();
    case Type::kInteger: return value.is_int64() && value.get_int64() == 0;
    case Type::kNumber: return value.is_double() && value.get_double() == 0;
    case Type::kList: return value.is_array() && value.get_array().empty();
    case Type::kMap: return value.is_object() && value.get_object().empty();
    default: return value.is_null();
  }
}

void SortKeys(json::object& object) {
  std::vector<json::key_value_pair*> members;
  members.reserve(object.size());
  for (auto& member : object) members.push_back(&member);
  SortByText(members, [](const json::key_value_pair* member) -> std::string_view { return member->key(); });
  json::object sorted(object.storage());
  sorted.reserve(members.size());
  for (json::key_value_pair* member : members) sorted.emplace(member->key(), std::move(member->value()));
  object = std::move(sorted);
}

}  // namespace apimesh::codec
