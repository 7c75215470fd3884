#include "services/core-api/validation/spec_fields.h"

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::core_api {
namespace {

Check ObjectAt(std::string_view field, const meta::Object& object, meta::FieldErrors& errors) {
  static const meta::json::object empty;
  const meta::json::value* found = meta::FindField(object.Root(), field);
  return Check(found && found->is_object() ? found->get_object() : empty, meta::Path(field), errors);
}

}  // namespace

Check SpecOf(const meta::Object& object, meta::FieldErrors& errors) { return ObjectAt("spec", object, errors); }
Check StatusOf(const meta::Object& object, meta::FieldErrors& errors) { return ObjectAt("status", object, errors); }

void ValidateImmutable(std::string_view field, const Check& spec, const meta::Object& old) {
  const meta::json::value* before = meta::Find(old.Root(), "spec", field);
  const meta::json::value* now = meta::FindField(spec.Object(), field);
  if (!meta::Equal(before, now)) spec.Invalid(field, "field is immutable");
}

bool ValidateSelector(const Check& spec, std::string_view kind, std::string malformed) {
  const std::optional<Check> selector = spec.Child("selector");
  const std::string path = spec.Path().Child("selector").ToString();
  if (!selector) {
    spec.Add(meta::Required(path, ""));
    return true;
  }
  for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
    spec.Add(std::move(error));
  const meta::Result<meta::LabelSelector> parsed = meta::LabelSelector::FromObject(selector->Object());
  if (!parsed) {
    spec.Invalid("selector", std::move(malformed));
    return false;
  }
  if (parsed->Empty()) spec.Invalid("selector", fmt::format("empty selector is invalid for {}", kind));
  return true;
}

void ValidateImmutableAtRoot(std::string_view field, const meta::Object& object, const meta::Object& old,
                             meta::FieldErrors& errors) {
  const Check root(object.Root(), meta::Path(), errors);
  if (!meta::Equal(meta::FindField(object.Root(), field), meta::FindField(old.Root(), field)))
    root.Invalid(field, "field is immutable");
}

}  // namespace apimesh::core_api
