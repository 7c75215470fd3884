#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/admission/matching/criteria.h"
#include "lib/admission/matching/selector_index.h"

namespace apimesh::admission::matching {

/// Finds the criteria that could match a request, by its operation, scope, group, resource and subresource and then by
/// labels, so that the cost of a request does not grow with the number of criteria that exclude it. Immutable after the
/// last Add(), then thread-safe.
class RuleIndex {
 public:
  using Item = SelectorIndex::Item;

  /// Adds criteria under a number that the caller chooses. Numbers must be added in ascending order.
  void Add(Item item, const Criteria& criteria);

  /// Returns whether any criteria could match, if labels are not considered.
  bool Any(const Attributes& attributes) const;
  /// Returns whether the labels of the namespace could exclude criteria, but have not been read yet.
  bool NeedsNamespace(const Attributes& attributes, const RequestLabels& labels) const;
  /// Returns the numbers of the criteria that could match, in ascending order. If the labels of the namespace are not
  /// known yet, no namespace selector excludes criteria.
  std::vector<Item> Candidates(const Attributes& attributes, RequestLabels& labels) const;

 private:
  struct Key {
    std::string_view group, resource, subresource;  // "*": any
    bool operator==(const Key&) const = default;
  };
  struct StoredKey {
    std::string group, resource, subresource;
    operator Key() const { return {group, resource, subresource}; }
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Key& a, const Key& b) const { return a == b; }
  };
  /// The criteria with the same operations and scopes.
  struct Part {
    unsigned slots;  // one bit per operation and scope
    Item last;       // the item that was added last
    SelectorIndex items;
  };

  void AddTo(StoredKey key, unsigned slots, Item item, const Criteria& criteria);
  /// Calls `visit(items)` for each list of candidates until it returns true. Returns whether it did.
  template <class Visit>
  bool VisitLists(const Attributes& attributes, Visit visit) const;

  std::unordered_map<StoredKey, std::vector<Part>, Hash, Equal> entries_;
  /// The combinations of "*" in group, resource and subresource that occur, one bit each. Others need no lookup.
  unsigned shapes_ = 0;
};

}  // namespace apimesh::admission::matching
