#include "services/core-api/validation/check.h"

#include <algorithm>

#include <boost/json/serialize.hpp>

namespace apimesh::core_api {

std::string Shown(const meta::json::value* value) {
  if (!value || value->is_null()) return "null";
  if (value->is_string()) return meta::Quoted(value->get_string());
  return boost::json::serialize(*value);
}

bool Check::Has(std::string_view field) const {
  const meta::json::value* value = meta::FindField(*object_, field);
  return value && !value->is_null();
}

std::optional<std::int64_t> Check::Number(std::string_view field) const {
  const meta::json::value* value = meta::FindField(*object_, field);
  if (!value || !value->is_int64()) return std::nullopt;
  return value->get_int64();
}

bool Check::IsTrue(std::string_view field) const {
  const meta::json::value* value = meta::FindField(*object_, field);
  return value && value->is_bool() && value->get_bool();
}

bool Check::Require(std::string_view field, std::string detail) const {
  if (!Text(field).empty()) return true;
  Add(meta::Required(path_.Child(field).ToString(), std::move(detail)));
  return false;
}

void Check::Names(std::string_view field, Rule rule) const {
  const std::string_view text = Text(field);
  if (text.empty()) return;
  for (std::string& complaint : rule(text)) Invalid(field, std::move(complaint));
}

void Check::NamesIfPresent(std::string_view field, Rule rule) const {
  if (!Has(field)) return;
  for (std::string& complaint : rule(Text(field))) Invalid(field, std::move(complaint));
}

void Check::RequireName(std::string_view field, Rule rule) const {
  if (Require(field)) Names(field, rule);
}

void Check::RequireOneOf(std::string_view field, const std::vector<std::string>& values) const {
  if (Require(field)) OneOf(field, values);
}

void Check::OneOf(std::string_view field, const std::vector<std::string>& values) const {
  const std::string_view text = Text(field);
  if (text.empty() || std::find(values.begin(), values.end(), text) != values.end()) return;
  Add(meta::NotSupported(path_.Child(field).ToString(), meta::Quoted(text), values));
}

void Check::RequireOneOf(std::string_view field, std::initializer_list<std::string_view> values) const {
  if (Require(field)) OneOf(field, values);
}

void Check::OneOf(std::string_view field, std::initializer_list<std::string_view> values) const {
  const std::string_view text = Text(field);
  if (text.empty() || std::find(values.begin(), values.end(), text) != values.end()) return;
  OneOf(field, std::vector<std::string>(values.begin(), values.end()));
}

void Check::NonNegative(std::string_view field) const {
  if (const auto number = Number(field); number && *number < 0) Invalid(field, "must be greater than or equal to 0");
}

void Check::Forbid(std::string_view field, std::string detail) const {
  if (Has(field)) Add(meta::Forbidden(path_.Child(field).ToString(), std::move(detail)));
}

std::optional<Check> Check::Child(std::string_view field) const {
  const meta::json::value* value = meta::FindField(*object_, field);
  if (!value || !value->is_object()) return std::nullopt;
  return Check(value->get_object(), path_.Child(field), *errors_);
}

Checks Check::Each(std::string_view field) const {
  const meta::json::value* list = meta::FindField(*object_, field);
  return Checks(list ? list->if_array() : nullptr, path_.Child(field), *errors_);
}

Check Checks::Iterator::operator*() const {
  return Check((*checks_->list_)[index_].get_object(), checks_->path_.Index(index_), *checks_->errors_);
}

void Checks::Iterator::SkipOthers() {
  const std::size_t end = checks_->Items();
  if (checks_->errors_->Full()) index_ = end;
  while (index_ < end && !(*checks_->list_)[index_].is_object()) ++index_;
}

std::size_t Checks::size() const {
  if (!list_) return 0;
  return static_cast<std::size_t>(
      std::count_if(list_->begin(), list_->end(), [](const auto& item) { return item.is_object(); }));
}

void Check::Invalid(std::string_view field, std::string detail) const {
  if (Full()) return;  // the value may be a list of 3 MB, which is expensive to show
  Add(meta::Invalid(path_.Child(field).ToString(), Shown(meta::FindField(*object_, field)), std::move(detail)));
}

}  // namespace apimesh::core_api
