#include "services/core-api/groups/core/data_bag.h"

#include "lib/meta/names.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

bool IsSet(const meta::Object& object) {
  const json::value* flag = meta::FindField(object.Root(), "immutable");
  return flag && flag->is_bool() && flag->get_bool();
}

}  // namespace

const json::object& DataBag(const meta::Object& object, std::string_view field) {
  static const json::object empty;
  const json::value* value = meta::FindField(object.Root(), field);
  return value && value->is_object() ? value->get_object() : empty;
}

void CheckDataKey(std::string_view field, std::string_view key, meta::FieldErrors& errors) {
  if (errors.Full()) return;
  for (const std::string& complaint : meta::CheckConfigMapKey(key)) {
    errors.push_back(meta::Invalid(meta::Path(field).Key(key).ToString(), meta::Quoted(key), complaint));
  }
}

std::size_t DecodedSize(const json::value& base64) {
  if (!base64.is_string()) return 0;
  const json::string& text = base64.get_string();
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  return text.size() / 4 * 3 - padding;
}

meta::FieldErrors CheckImmutable(const meta::Object& object, const meta::Object& old,
                                 std::initializer_list<std::string_view> fields) {
  static constexpr const char* kText = "field is immutable when `immutable` is set";
  meta::FieldErrors errors;
  if (!IsSet(old)) return errors;
  if (!IsSet(object)) errors.push_back(meta::Forbidden("immutable", kText));
  for (const std::string_view field : fields) {
    if (DataBag(object, field) != DataBag(old, field)) errors.push_back(meta::Forbidden(std::string(field), kText));
  }
  return errors;
}

}  // namespace apimesh::core_api
