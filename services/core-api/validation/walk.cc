#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

template <class Object, class Value>
std::vector<std::reference_wrapper<Object>> ObjectsOf(Value* list) {
  std::vector<std::reference_wrapper<Object>> objects;
  if (!list || !list->is_array()) return objects;
  for (Value& element : list->get_array()) {
    if (element.is_object()) objects.emplace_back(element.get_object());
  }
  return objects;
}

}  // namespace

std::vector<std::reference_wrapper<const meta::json::object>> Objects(const meta::json::value* list) {
  return ObjectsOf<const meta::json::object>(list);
}

std::vector<std::reference_wrapper<meta::json::object>> Objects(meta::json::value* list) {
  return ObjectsOf<meta::json::object>(list);
}

}  // namespace apimesh::core_api
