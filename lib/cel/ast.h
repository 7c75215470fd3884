#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/cel/value.h"

namespace re2 {
class RE2;
}

namespace apimesh::cel {

/// A node of a parsed expression. Macros that bind a variable are nodes of their own instead of loops spelled out.
struct Node {
  enum class Kind {
    kLiteral,
    kVariable,       // name
    kSelect,         // children[0].name; `optional`: .?name
    kHas,            // has(children[0].name)
    kCall,           // name(children…); operators have the names of their signs, "_?_:_", "_[_]", "_[?_]", "-_", "!_"
    kMethod,         // children[0].name(children[1…])
    kList,           // children; element_optional says which are "?x"
    kMap,            // key, value, key, value …
    kComprehension,  // over children[0], with `variables`; children[1] is the predicate or body, children[2] the body
                     // of a filtered map
  };
  enum class Macro { kAll, kExists, kExistsOne, kMap, kFilter, kTransformList, kTransformMap };

  Kind kind = Kind::kLiteral;
  std::size_t position = 0;
  std::string name;
  Value literal;
  std::vector<std::unique_ptr<Node>> children;
  bool optional = false;
  std::vector<bool> element_optional;
  Macro macro = Macro::kAll;
  std::vector<std::string> variables;       // one, or index or key and value
  std::shared_ptr<const re2::RE2> pattern;  // of matches() with a literal pattern
};
using NodePtr = std::unique_ptr<Node>;

}  // namespace apimesh::cel
