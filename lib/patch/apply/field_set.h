#pragma once

#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// Sets of paths into a document, such as the fields that a manager owns. Their wire encoding is FieldsV1:
/// {"f:spec":{"f:replicas":{}}}.
namespace apimesh::patch {

/// Stores the texts of path elements for the duration of one write.
class TextArena {
 public:
  std::string_view Keep(std::string_view text);
  /// Returns an empty string in which a text can be built before it is passed to Keep(). The next call clears it.
  std::string& Scratch() { return scratch_.clear(), scratch_; }

 private:
  std::pmr::monotonic_buffer_resource memory_{4096};
  std::string scratch_;
};

/// One step of a path. The text is not owned: it refers to a document or to a TextArena.
struct PathElement {
  enum class Kind : std::uint8_t {
    kField,  // a field or map key: its name
    kKey,    // an item of a list map: its keys as canonical JSON, {"containerPort":80,"protocol":"TCP"}
    kValue,  // an item of a set: its value as JSON
    kIndex,  // a position: decimal digits
  };
  Kind kind = Kind::kField;
  std::string_view text;

  /// Returns ".spec", "[name=\"a\"]", "[=\"x\"]" or "[3]".
  std::string ToString() const;
};
/// The canonical order of FieldsV1. Keys and values are compared as values: 80 is before 443.
int Compare(const PathElement& a, const PathElement& b);
inline bool operator==(const PathElement& a, const PathElement& b) { return a.kind == b.kind && Compare(a, b) == 0; }

class FieldSet {
 public:
  struct Entry;
  using Path = std::vector<PathElement>;

  bool Empty() const { return entries_.empty(); }
  const std::vector<Entry>& Entries() const { return entries_; }

  /// Adds an entry that is a member, has members below it, or both; an entry that is neither is ignored. Entries may be
  /// added in any order; the caller must call Sort() before any other function.
  void Append(const PathElement& element, bool member, FieldSet children);
  void Sort();
  void Reserve(std::size_t entries);

  void Insert(const Path& path);
  bool Has(const Path& path) const;
  const Entry* Find(const PathElement& element) const;

  // These change the set in place, because they run on every write.
  void Add(FieldSet other);
  /// Removes the members of `other`; members below them stay.
  void Subtract(const FieldSet& other) { SubtractFrom(other, false); }
  /// Removes the members of `other` and all members below them.
  void SubtractTrees(const FieldSet& other) { SubtractFrom(other, true); }

  FieldSet Union(const FieldSet& other) const;
  /// Returns the union of many sets. Adding them to one set one by one would copy that set for each of them.
  static FieldSet UnionOf(std::vector<FieldSet> sets);
  FieldSet Intersection(const FieldSet& other) const;
  FieldSet Difference(const FieldSet& other) const;
  /// Returns the set extended by the named fields (not map keys) that have members below them.
  FieldSet WithNamedFields(const schema::Node* node) const;

  /// Calls `visit` for each member, the members of a level before those of deeper levels.
  void ForEach(const std::function<void(const Path&)>& visit) const;

  /// `sorted_keys`: the fields are sorted by their texts, as for custom resources, instead of canonically.
  meta::json::object ToJson(const meta::json::storage_ptr& storage, bool sorted_keys = false) const;
  /// Returns false if `fields` is not a valid FieldsV1. The set keeps references to the strings in `fields`.
  bool FromJson(const meta::json::object& fields, TextArena& arena);

 private:
  bool SortByKeys();
  void UniteEqual();
  void SubtractFrom(const FieldSet& other, bool trees);
  void WriteTo(meta::json::object& out, bool sorted_keys) const;
  void ForEachBelow(Path& path, const std::function<void(const Path&)>& visit) const;
  std::vector<Entry> entries_;  // sorted; every entry is a member or has children
};

struct FieldSet::Entry {
  PathElement element;
  bool member = false;
  FieldSet children;
};

/// ".spec.containers[name=\"a\"].image"
std::string ToString(const FieldSet::Path& path);

}  // namespace apimesh::patch
