#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::meta {

/// The set of fields of a document that a reader needs, as a tree of names. Lists are transparent:
/// "spec.containers.name" is the name of every container. An empty mask selects all fields.
class FieldMask {
 public:
  FieldMask() = default;
  FieldMask(std::initializer_list<std::string_view> paths);
  /// Selects all fields except these.
  static FieldMask AllBut(std::initializer_list<std::string_view> paths);

  /// Adds a path whose steps are separated by dots.
  void Add(std::string_view path);
  /// Adds a path as a list of steps, whose names may contain dots.
  void Add(const std::vector<std::string>& steps);

  bool Everything() const { return below_.empty(); }
  /// Returns the mask of the field `name`; nullptr if the field is not selected.
  const FieldMask* Find(std::string_view name) const {
    for (const FieldMask& field : below_) {
      if (field.name_ == name) return field.unwanted_ ? nullptr : &field;
    }
    return others_ ? &AllFields() : nullptr;
  }

 private:
  static const FieldMask& AllFields();
  FieldMask& Child(std::string_view name);

  std::string name_;
  std::vector<FieldMask> below_;  // few
  bool selected_ = false;         // was added itself, so paths below it add nothing
  bool others_ = false;           // fields that are not in below_ are selected
  bool unwanted_ = false;         // this field is excluded
};

}  // namespace apimesh::meta
