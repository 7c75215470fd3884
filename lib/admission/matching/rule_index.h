#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/admission/matching/criteria.h"

namespace apimesh::admission::matching {

/// Finds the criteria whose rules could match a request by its group and resource, so that the cost of a request does
/// not grow with the number of criteria for other resources. Immutable after the last Add(), then thread-safe.
class RuleIndex {
 public:
  using Item = std::uint32_t;

  /// Adds criteria under a number that the caller chooses. Numbers must be added in ascending order.
  void Add(Item item, const Criteria& criteria);

  /// Returns whether any criteria could match.
  bool Any(const Attributes& attributes) const;
  /// Returns the numbers of the criteria that could match, in ascending order.
  std::vector<Item> Candidates(const Attributes& attributes) const;

 private:
  struct Key {
    std::string_view group, resource;  // "*": any
    bool operator==(const Key&) const = default;
  };
  struct StoredKey {
    std::string group, resource;
    operator Key() const { return {group, resource}; }
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const {
      const std::hash<std::string_view> hash;
      return hash(key.group) * 31 + hash(key.resource);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Key& a, const Key& b) const { return a == b; }
  };

  void AddTo(std::string_view group, std::string_view resource, Item item);
  /// Calls `visit(items)` for each list of candidates until it returns true. Returns whether it did.
  template <class Visit>
  bool VisitLists(const Attributes& attributes, Visit visit) const;

  std::unordered_map<StoredKey, std::vector<Item>, Hash, Equal> items_;
};

}  // namespace apimesh::admission::matching
