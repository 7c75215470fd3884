#pragma once

#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// Sets of paths into a document: what a manager owns. The wire form is FieldsV1: {"f:spec":{"f:replicas":{}}}.
namespace apimesh::patch {

/// Keeps the texts of path elements for as long as one write takes.
class TextArena {
 public:
  std::string_view Keep(std::string_view text);

 private:
  std::pmr::monotonic_buffer_resource memory_{4096};
};

/// One step of a path. The text is borrowed: from a document, or from a TextArena.
struct PathElement {
  enum class Kind : std::uint8_t {
    kField,  // a field or map key: its name
    kKey,    // an item of a list map: its keys as canonical JSON, {"containerPort":80,"protocol":"TCP"}
    kValue,  // an item of a set: its value as JSON
    kIndex,  // a position: decimal digits
  };
  Kind kind = Kind::kField;
  std::string_view text;

  /// As in ".spec", "[name=\"a\"]", "[=\"x\"]", "[3]".
  std::string ToString() const;
};
/// The canonical order of FieldsV1. Keys and values compare as values: 80 before 443.
int Compare(const PathElement& a, const PathElement& b);
inline bool operator==(const PathElement& a, const PathElement& b) { return a.kind == b.kind && Compare(a, b) == 0; }

class FieldSet {
 public:
  struct Entry;
  using Path = std::vector<PathElement>;

  bool Empty() const { return entries_.empty(); }
  const std::vector<Entry>& Entries() const { return entries_; }

  /// Adds a place that is a member itself, or has members below it, or neither (then nothing happens). In any order;
  /// call Sort() before anything else.
  void Append(const PathElement& element, bool member, FieldSet children);
  void Sort();
  void Reserve(std::size_t places);

  void Insert(const Path& path);
  bool Has(const Path& path) const;
  const Entry* Find(const PathElement& element) const;

  // In place, moving what stays: these run on every write.
  void Add(FieldSet other);
  /// Takes out the members of `other`; what lies below them stays.
  void Subtract(const FieldSet& other) { SubtractFrom(other, false); }
  /// Takes out the members of `other` and everything below them.
  void SubtractTrees(const FieldSet& other) { SubtractFrom(other, true); }

  FieldSet Union(const FieldSet& other) const;
  /// The union of many sets. Adding them to one set, one after the other, would copy that set as often.
  static FieldSet UnionOf(std::vector<FieldSet> sets);
  FieldSet Intersection(const FieldSet& other) const;
  FieldSet Difference(const FieldSet& other) const;
  /// Also counts named fields (not map keys) that have members below them as members.
  FieldSet WithNamedFields(const schema::Node* node) const;

  /// Calls `visit` for each member: those of one level before those further down.
  void ForEach(const std::function<void(const Path&)>& visit) const;

  meta::json::object ToJson(const meta::json::storage_ptr& storage) const;
  /// False if it is no FieldsV1. Keeps references to the strings in `fields`.
  bool FromJson(const meta::json::object& fields, TextArena& arena);

 private:
  void SubtractFrom(const FieldSet& other, bool trees);
  void WriteTo(meta::json::object& out) const;
  void ForEachBelow(Path& path, const std::function<void(const Path&)>& visit) const;
  std::vector<Entry> entries_;  // sorted; no entry is both childless and not a member
};

struct FieldSet::Entry {
  PathElement element;
  bool member = false;
  FieldSet children;
};

/// ".spec.containers[name=\"a\"].image"
std::string ToString(const FieldSet::Path& path);

}  // namespace apimesh::patch
