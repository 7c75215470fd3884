#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::meta {

/// Which fields of a document someone wants, as a tree of names. Lists are looked through: "spec.containers.name" is the name of
/// every container. A mask that names nothing wants everything.
class FieldMask {
 public:
  FieldMask() = default;
  FieldMask(std::initializer_list<std::string_view> paths);
  /// Everything but these.
  static FieldMask AllBut(std::initializer_list<std::string_view> paths);

  /// Adds a path with dots between its steps.
  void Add(std::string_view path);
  /// The same where names may have dots.
  void Add(const std::vector<std::string>& steps);

  bool Everything() const { return below_.empty(); }
  /// What is wanted of the field `name`; nullptr: nothing.
  const FieldMask* Find(std::string_view name) const {
    for (const FieldMask& field : below_) {
      if (field.name_ == name) return field.unwanted_ ? nullptr : &field;
    }
    return others_ ? &Whole() : nullptr;
  }

 private:
  static const FieldMask& Whole();
  FieldMask& Child(std::string_view name);

  std::string name_;
  std::vector<FieldMask> below_;  // few
  bool whole_ = false;            // was named itself: paths below it add nothing
  bool others_ = false;           // fields that are not in below_ are wanted
  bool unwanted_ = false;         // and this one is not
};

}  // namespace apimesh::meta
