#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/storage/entry.h"

namespace apimesh::storage {

/// Entries in the order of their keys. A copy is a snapshot and costs nothing: copies share nodes, and a change copies
/// only the way down to it. One thread changes a tree; any number read their own copies.
class Tree {
 public:
  Tree() = default;
  /// `entries` in the order of their keys, each key once.
  static Tree FromSorted(std::vector<CachedEntryPtr> entries);

  std::size_t size() const;
  CachedEntryPtr Find(std::string_view key) const;
  /// How many keys are before `key`.
  std::size_t CountBefore(std::string_view key) const;

  /// Changes that belong together may reuse the nodes made by the first of them: until the next call of Freeze().
  void Put(CachedEntryPtr entry);
  /// True if it was there.
  bool Erase(std::string_view key);
  /// After this, copies may be taken.
  void Freeze();

  /// Calls `visit` with the entries from `from` on, until it says false.
  void Walk(std::string_view from, const std::function<bool(const CachedEntryPtr&)>& visit) const;

  struct Node;
  using NodePtr = std::shared_ptr<Node>;

 private:
  Node* Own(NodePtr& node);

  NodePtr root_;
  std::uint64_t edit_ = 0;  // nodes with this number are ours alone; 0: none
};

}  // namespace apimesh::storage
