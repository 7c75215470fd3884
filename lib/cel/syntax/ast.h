#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cel/types/type.h"
#include "lib/cel/value/value.h"

namespace apimesh::cel {

struct Overload;
struct Function;

/// A node of an expression. Macros are expanded to calls and comprehensions.
struct Node {
  enum class Kind {
    kLiteral,
    kIdent,          // name
    kSelect,         // args[0].name; `test_only`: has(args[0].name)
    kCall,           // name(args…), or target.name(args…)
    kList,           // args; `optional` marks elements that are written "?x"
    kMap,            // keys and values alternate in args; `optional` is per entry
    kStruct,         // name{fields: args}
    kComprehension,  // args: kRange, kInit, kCondition, kStep, kResult
    kInvalid,        // has been reported
  };
  enum { kRange, kInit, kCondition, kStep, kResult };

  Kind kind = Kind::kInvalid;
  std::int32_t position = -1;  // in code points
  std::string name;
  Value literal;
  Node* target = nullptr;
  std::vector<Node*> args;
  std::vector<bool> optional;
  std::vector<std::string> fields;
  std::vector<std::int32_t> entry_positions;  // of the colons of a map or struct
  bool test_only = false;
  std::int32_t depth = 0;                        // how deep operators and selections are nested, as it was written
  std::string variable, variable2, accumulator;  // of a comprehension; variable2 may be empty

  // What the type checker finds out.
  TypeRef type;
  const Function* function = nullptr;
  std::vector<const Overload*> overloads;
  const Type* type_value = nullptr;  // of an identifier that denotes a type
};

/// An expression and everything that its nodes refer to.
struct Ast {
  std::deque<Node> nodes;
  std::deque<std::string> texts;
  std::deque<TypeRef> types;
  Node* root = nullptr;
  std::size_t copied = 0;  // nodes that Copy() has made

  Node* New(Node::Kind kind, std::int32_t position) {
    Node& node = nodes.emplace_back();
    node.kind = kind;
    node.position = position;
    return &node;
  }
  std::string_view Keep(std::string text) { return texts.emplace_back(std::move(text)); }
  /// A copy of a node with all its descendants.
  Node* Copy(const Node& node);
};

/// terms[low] op … op terms[high + 1] as a tree of little depth; positions[i] is that of the operator after terms[i].
Node* BalancedTree(Ast& ast, const char* function, const std::vector<Node*>& terms,
                   const std::vector<std::int32_t>& positions, std::size_t low, std::size_t high);

/// "a.b.c" if the node is made of identifiers only.
std::optional<std::string> QualifiedName(const Node& node);

}  // namespace apimesh::cel
