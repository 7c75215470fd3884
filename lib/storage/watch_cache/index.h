#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/storage/entry/filter.h"
#include "lib/storage/watch_cache/tree.h"

namespace apimesh::storage {

/// What an index is built on: a label or a selectable field.
struct IndexedBy {
  bool label = false;
  std::string name;
  bool operator==(const IndexedBy&) const = default;

  /// Returns nullopt if the object does not have the label.
  std::optional<std::string_view> ValueOf(const CachedEntry& entry) const;
};

/// The part of a filter that an index can answer: one value of one label or field.
struct IndexTerm {
  IndexedBy by;
  std::string value;
};
std::vector<IndexTerm> TermsOf(const Filter& filter);

/// Objects by the value of one label or field. A copy is a snapshot, as with Tree: copies share everything that has not
/// changed. One thread modifies an index; any number of threads read their own copies.
class Index {
 public:
  explicit Index(IndexedBy by) : by_(std::make_shared<const IndexedBy>(std::move(by))) {}
  static Index Of(IndexedBy by, const Tree& tree);

  const IndexedBy& By() const { return *by_; }
  /// Returns the objects with this value in key order, or nullptr if there are none.
  const Tree* Find(const std::string& value) const;

  void Replace(const CachedEntryPtr& previous, const CachedEntryPtr& entry);  // either may be nullptr
  void Freeze();

 private:
  struct Bucket {
    std::vector<std::pair<std::string, Tree>> values;
  };
  static constexpr std::size_t kBuckets = 64;
  Tree& Own(std::string_view value);
  static std::size_t BucketFor(std::string_view value) { return std::hash<std::string_view>()(value) % kBuckets; }

  std::shared_ptr<const IndexedBy> by_;
  std::array<std::shared_ptr<Bucket>, kBuckets> buckets_;
  std::uint64_t own_ = 0;  // bit i: bucket i was copied since Freeze() and is not shared
};

}  // namespace apimesh::storage
