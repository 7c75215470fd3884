#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {

std::vector<std::string_view> TextsOf(const Check& holder, std::string_view field) {
  std::vector<std::string_view> texts;
  const meta::json::value* list = meta::FindField(holder.Object(), field);
  if (!list || !list->is_array()) return texts;
  for (const meta::json::value& item : list->get_array()) {
    if (item.is_string()) texts.emplace_back(item.get_string());
  }
  return texts;
}

std::size_t SizeOf(const Check& holder, std::string_view field) {
  const meta::json::value* value = meta::FindField(holder.Object(), field);
  if (!value) return 0;
  if (value->is_array()) return value->get_array().size();
  return value->is_object() ? value->get_object().size() : 0;
}

void CheckText(const Check& holder, const meta::Path& path, std::string_view text, Check::Rule rule) {
  if (holder.Full()) return;
  for (std::string& complaint : rule(text))
    holder.Add(meta::Invalid(path.ToString(), meta::Quoted(text), std::move(complaint)));
}

const meta::json::value* FindAnnotation(const meta::Object& object, std::string_view key) {
  return meta::Find(object.Metadata(), "annotations", key);
}

}  // namespace apimesh::core_api
