#include "lib/meta/field_mask.h"

namespace apimesh::meta {
namespace {

std::vector<std::string> Steps(std::string_view path) {
  std::vector<std::string> steps;
  for (;;) {
    const std::size_t dot = path.find('.');
    steps.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return steps;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

FieldMask::FieldMask(std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) Add(path);
}

FieldMask FieldMask::AllBut(std::initializer_list<std::string_view> paths) {
  FieldMask mask;
  for (const std::string_view path : paths) {
    FieldMask* at = &mask;
    for (const std::string& step : Steps(path)) {
      at->others_ = true;
      at = &at->Child(step);
    }
    at->unwanted_ = true;
  }
  return mask;
}

const FieldMask& FieldMask::AllFields() {
  static const FieldMask all;
  return all;
}

FieldMask& FieldMask::Child(std::string_view name) {
  for (FieldMask& field : below_) {
    if (field.name_ == name) return field;
  }
  FieldMask& made = below_.emplace_back();
  made.name_ = name;
  return made;
}

void FieldMask::Add(std::string_view path) { Add(Steps(path)); }

void FieldMask::Add(const std::vector<std::string>& steps) {
  FieldMask* at = this;
  for (const std::string& step : steps) {
    if (at->selected_) return;
    at = &at->Child(step);
  }
  at->selected_ = true;
  at->below_.clear();
}

}  // namespace apimesh::meta
