#include "lib/storage/watch_cache/tree.h"

#include <algorithm>
#include <atomic>

namespace apimesh::storage {
namespace {
constexpr std::size_t kFull = 64;
constexpr std::size_t kSparse = 16;
std::atomic<std::uint64_t> last_edit{0};
}  // namespace

struct Tree::Node {
  std::uint64_t edit = 0;
  std::size_t count = 0;
  std::vector<CachedEntryPtr> entries;  // of a leaf; empty in inner nodes
  std::vector<NodePtr> children;        // of an inner node, which always has some

  bool Leaf() const { return children.empty(); }
  std::string_view First() const {
    const Node* node = this;
    while (!node->Leaf()) node = node->children.front().get();
    return node->entries.front()->KeyText();
  }
  std::size_t Width() const { return Leaf() ? entries.size() : children.size(); }
  void Recount() {
    count = entries.size();
    for (const NodePtr& child : children) count += child->count;
  }
  /// Returns the index of the child that contains `key` or would contain it.
  std::size_t ChildFor(std::string_view key) const {
    std::size_t low = 0, high = children.size();  // finds the last child whose first key is not after `key`
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (children[middle]->First() <= key ? low : high) = middle;
    }
    return low;
  }
  std::size_t LowerBound(std::string_view key) const {
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), key,
                         [](const CachedEntryPtr& entry, std::string_view k) { return entry->KeyText() < k; });
    return found - entries.begin();
  }
};

namespace {

using Node = Tree::Node;
using NodePtr = Tree::NodePtr;

template <class T>
std::vector<T> SecondHalf(std::vector<T>& all) {
  std::vector<T> half(std::make_move_iterator(all.begin() + all.size() / 2), std::make_move_iterator(all.end()));
  all.resize(all.size() / 2);
  all.shrink_to_fit();  // it had the capacity of two full nodes and may never change again
  return half;
}

/// Splits a node that is too wide. Returns the right half, or nullptr if it was not split.
NodePtr SplitIfFull(Node& node) {
  if (node.Width() <= kFull) return nullptr;
  auto right = std::make_shared<Node>();
  right->edit = node.edit;
  if (node.Leaf()) {
    right->entries = SecondHalf(node.entries);
  } else {
    right->children = SecondHalf(node.children);
  }
  node.Recount();
  right->Recount();
  return right;
}

bool WalkFrom(const Node& node, std::string_view from, bool& inside,
              const std::function<bool(const CachedEntryPtr&)>& visit) {
  if (node.Leaf()) {
    for (std::size_t i = inside ? 0 : node.LowerBound(from); i < node.entries.size(); ++i) {
      if (!visit(node.entries[i])) return false;
    }
    inside = true;
    return true;
  }
  for (std::size_t i = inside ? 0 : node.ChildFor(from); i < node.children.size(); ++i) {
    if (!WalkFrom(*node.children[i], from, inside, visit)) return false;
  }
  return true;
}

}  // namespace

Tree Tree::FromSorted(std::vector<CachedEntryPtr> entries) {
  Tree tree;
  if (entries.empty()) return tree;
  constexpr std::size_t kWidth = kFull * 3 / 4;  // leaves room for later insertions
  std::vector<NodePtr> level;
  for (std::size_t begin = 0; begin < entries.size(); begin += kWidth) {
    auto leaf = std::make_shared<Node>();
    const std::size_t end = std::min(begin + kWidth, entries.size());
    leaf->entries.assign(std::make_move_iterator(entries.begin() + begin),
                         std::make_move_iterator(entries.begin() + end));
    leaf->Recount();
    level.push_back(std::move(leaf));
  }
  while (level.size() > 1) {
    std::vector<NodePtr> above;
    for (std::size_t begin = 0; begin < level.size(); begin += kWidth) {
      auto node = std::make_shared<Node>();
      const std::size_t end = std::min(begin + kWidth, level.size());
      node->children.assign(level.begin() + begin, level.begin() + end);
      node->Recount();
      above.push_back(std::move(node));
    }
    level = std::move(above);
  }
  tree.root_ = level.front();
  return tree;
}

std::size_t Tree::size() const { return root_ ? root_->count : 0; }

CachedEntryPtr Tree::Find(std::string_view key) const {
  const Node* node = root_.get();
  if (!node) return nullptr;
  while (!node->Leaf()) node = node->children[node->ChildFor(key)].get();
  const std::size_t i = node->LowerBound(key);
  return i < node->entries.size() && node->entries[i]->KeyText() == key ? node->entries[i] : nullptr;
}

std::size_t Tree::CountBefore(std::string_view key) const {
  std::size_t before = 0;
  const Node* node = root_.get();
  if (!node) return 0;
  while (!node->Leaf()) {
    const std::size_t child = node->ChildFor(key);
    for (std::size_t i = 0; i < child; ++i) before += node->children[i]->count;
    node = node->children[child].get();
  }
  return before + node->LowerBound(key);
}

Tree::Node* Tree::Own(NodePtr& node) {
  if (edit_ == 0) edit_ = ++last_edit;
  if (node->edit != edit_) {
    node = std::make_shared<Node>(*node);
    node->edit = edit_;
  }
  return node.get();
}

Tree::OwnedPath Tree::OwnPath(std::string_view key) {
  OwnedPath path;
  NodePtr* slot = &root_;
  while (!(*slot)->Leaf()) {
    Node* node = Own(*slot);
    path.way.push_back(node);
    path.steps.push_back(node->ChildFor(key));
    slot = &node->children[path.steps.back()];
  }
  path.leaf = Own(*slot);
  return path;
}

void Tree::Freeze() { edit_ = 0; }

void Tree::Put(CachedEntryPtr entry) {
  if (!root_) root_ = std::make_shared<Node>();
  const std::string_view key = entry->KeyText();
  auto [way, steps, leaf] = OwnPath(key);
  const std::size_t i = leaf->LowerBound(key);
  if (i < leaf->entries.size() && leaf->entries[i]->KeyText() == key) {
    leaf->entries[i] = std::move(entry);
    return;
  }
  leaf->entries.insert(leaf->entries.begin() + i, std::move(entry));
  ++leaf->count;
  NodePtr right = SplitIfFull(*leaf);
  for (std::size_t depth = way.size(); depth-- > 0;) {
    Node* node = way[depth];
    ++node->count;
    if (right) node->children.insert(node->children.begin() + steps[depth] + 1, std::move(right));
    right = SplitIfFull(*node);
  }
  if (right) {
    auto root = std::make_shared<Node>();
    root->edit = edit_;
    root->children = {root_, right};
    root->Recount();
    root_ = std::move(root);
  }
}

bool Tree::Erase(std::string_view key) {
  if (!Find(key)) return false;
  auto [way, steps, node] = OwnPath(key);
  node->entries.erase(node->entries.begin() + node->LowerBound(key));
  --node->count;
  for (std::size_t depth = way.size(); depth-- > 0;) {
    Node* parent = way[depth];
    --parent->count;
    std::vector<NodePtr>& siblings = parent->children;
    const std::size_t at = steps[depth];
    if (node->Width() == 0) {
      siblings.erase(siblings.begin() + at);
    } else if (node->Width() < kSparse && siblings.size() > 1) {
      // Merges two adjacent siblings if both fit into one node.
      const std::size_t left = at > 0 ? at - 1 : 0;
      if (siblings[left]->Width() + siblings[left + 1]->Width() <= kFull) {
        Node* into = Own(siblings[left]);
        const Node& from = *siblings[left + 1];
        into->entries.insert(into->entries.end(), from.entries.begin(), from.entries.end());
        into->children.insert(into->children.end(), from.children.begin(), from.children.end());
        into->Recount();
        siblings.erase(siblings.begin() + left + 1);
      }
    }
    node = parent;
  }
  if (root_->count == 0) {
    root_ = nullptr;
  } else {
    while (!root_->Leaf() && root_->children.size() == 1) root_ = NodePtr(root_->children.front());
  }
  return true;
}

void Tree::Walk(std::string_view from, const std::function<bool(const CachedEntryPtr&)>& visit) const {
  bool inside = from.empty();
  if (root_) WalkFrom(*root_, from, inside, visit);
}

}  // namespace apimesh::storage
