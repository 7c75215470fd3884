#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/storage/entry/entry.h"

namespace apimesh::storage {

/// Entries in key order. A copy is a snapshot and is cheap: copies share nodes, and a change copies only the path from
/// the root to the changed node. One thread modifies a tree; any number of threads read their own copies.
class Tree {
 public:
  Tree() = default;
  /// Builds a tree from `entries`, which must be in key order without duplicates.
  static Tree FromSorted(std::vector<CachedEntryPtr> entries);

  std::size_t size() const;
  CachedEntryPtr Find(std::string_view key) const;
  /// Returns the number of keys before `key`.
  std::size_t CountBefore(std::string_view key) const;

  /// Changes between two calls of Freeze() reuse the nodes that the first of them has copied.
  void Put(CachedEntryPtr entry);
  /// Returns true if the key existed.
  bool Erase(std::string_view key);
  /// Must be called before a copy is taken.
  void Freeze();

  /// Calls `visit` with the entries from `from` on, until it returns false.
  void Walk(std::string_view from, const std::function<bool(const CachedEntryPtr&)>& visit) const;

  struct Node;
  using NodePtr = std::shared_ptr<Node>;

 private:
  /// The nodes from the root to the leaf of a key, and the child that is taken in each. No copy of the tree shares
  /// them.
  struct OwnedPath {
    std::vector<Node*> way;
    std::vector<std::size_t> steps;
    Node* leaf = nullptr;
  };
  Node* Own(NodePtr& node);
  OwnedPath OwnPath(std::string_view key);

  NodePtr root_;
  std::uint64_t edit_ = 0;  // nodes with this number are not shared with a copy; 0: all are shared
};

}  // namespace apimesh::storage
