#include "lib/cel/syntax/ast.h"

#include <algorithm>

namespace apimesh::cel {

Node* Ast::Copy(const Node& node) {
  Node* out = &nodes.emplace_back(node);
  ++copied;
  if (node.target) out->target = Copy(*node.target);
  for (Node*& arg : out->args) arg = Copy(*arg);
  return out;
}

Node* BalancedTree(Ast& ast, const char* function, const std::vector<Node*>& terms,
                   const std::vector<std::int32_t>& positions, std::size_t low, std::size_t high) {
  const std::size_t middle = (low + high + 1) / 2;
  Node* left = middle == low ? terms[middle] : BalancedTree(ast, function, terms, positions, low, middle - 1);
  Node* right = middle == high ? terms[middle + 1] : BalancedTree(ast, function, terms, positions, middle + 1, high);
  Node* out = ast.New(Node::Kind::kCall, positions[middle]);
  out->name = function;
  out->args = {left, right};
  out->depth = std::max(left->depth, right->depth);
  return out;
}

std::optional<std::string> QualifiedName(const Node& node) {
  if (node.kind == Node::Kind::kIdent) return node.name;
  if (node.kind != Node::Kind::kSelect || node.test_only) return std::nullopt;
  auto prefix = QualifiedName(*node.args[0]);
  if (!prefix) return std::nullopt;
  return *prefix + "." + node.name;
}

}  // namespace apimesh::cel
