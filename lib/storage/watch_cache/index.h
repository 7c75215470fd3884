#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/storage/filter.h"
#include "lib/storage/watch_cache/tree.h"

namespace apimesh::storage {

/// Something an object has one value of: a label or a selectable field.
struct IndexedBy {
  bool label = false;
  std::string name;
  bool operator==(const IndexedBy&) const = default;

  /// nullopt: the object has no such label.
  std::optional<std::string_view> ValueOf(const CachedEntry& entry) const;
};

/// The part of a filter that an index can answer: one value of one label or field.
struct IndexTerm {
  IndexedBy by;
  std::string value;
};
std::vector<IndexTerm> TermsOf(const Filter& filter);

/// Objects by the value of one label or field. A copy is a snapshot, as with Tree: copies share what has not changed. One
/// thread changes an index; any number read their own copies.
class Index {
 public:
  explicit Index(IndexedBy by) : by_(std::make_shared<const IndexedBy>(std::move(by))) {}
  static Index Of(IndexedBy by, const Tree& tree);

  const IndexedBy& By() const { return *by_; }
  /// The objects with this value, in the order of their keys; nullptr: none.
  const Tree* Find(const std::string& value) const;

  void Replace(const CachedEntryPtr& previous, const CachedEntryPtr& entry);  // either may be nullptr
  void Freeze();

 private:
  struct Bucket {
    std::vector<std::pair<std::string, Tree>> values;
  };
  static constexpr std::size_t kBuckets = 64;
  Tree& Own(std::string_view value);
  static std::size_t PlaceOf(std::string_view value) { return std::hash<std::string_view>()(value) % kBuckets; }

  std::shared_ptr<const IndexedBy> by_;
  std::array<std::shared_ptr<Bucket>, kBuckets> buckets_;
  std::uint64_t own_ = 0;  // bit i: bucket i was copied since Freeze() and is ours alone
};

}  // namespace apimesh::storage
