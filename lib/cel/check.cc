#include "lib/cel/check.h"

#include <re2/re2.h>

#include "lib/cel/functions.h"

namespace apimesh::cel {
namespace {

using Kind = Type::Kind;

Type::Kind KindOf(const Value& literal) {
  switch (literal.GetKind()) {
    case Value::Kind::kNull:
      return Kind::kNull;
    case Value::Kind::kBool:
      return Kind::kBool;
    case Value::Kind::kInt:
      return Kind::kInt;
    case Value::Kind::kUint:
      return Kind::kUint;
    case Value::Kind::kDouble:
      return Kind::kDouble;
    case Value::Kind::kString:
      return Kind::kString;
    case Value::Kind::kBytes:
      return Kind::kBytes;
    default:
      return Kind::kDyn;
  }
}

bool IsNumber(Kind kind) { return kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble; }
bool IsDyn(const Type& type) { return type.kind == Kind::kDyn; }

// Whether values of these types may be added, compared … to each other; only what is sure counts.
bool OperatorFits(const std::string& sign, const Type& a, const Type& b) {
  if (IsDyn(a) || IsDyn(b)) return true;
  const bool same = a.kind == b.kind;
  const auto is = [&](Kind kind) { return same && a.kind == kind; };
  const bool times = (a.kind == Kind::kTimestamp || a.kind == Kind::kDuration) &&
                     (b.kind == Kind::kTimestamp || b.kind == Kind::kDuration);
  if (sign == "+")
    return (same && IsNumber(a.kind)) || is(Kind::kString) || is(Kind::kBytes) || is(Kind::kList) || times;
  if (sign == "-") return (same && IsNumber(a.kind)) || times;
  if (sign == "*" || sign == "/") return same && IsNumber(a.kind);
  if (sign == "%") return is(Kind::kInt) || is(Kind::kUint);
  if (sign == "==" || sign == "!=")
    return same || (IsNumber(a.kind) && IsNumber(b.kind)) || a.kind == Kind::kNull || b.kind == Kind::kNull;
  if (sign == "<" || sign == "<=" || sign == ">" || sign == ">=")
    return (IsNumber(a.kind) && IsNumber(b.kind)) || (same && a.kind != Kind::kList && a.kind != Kind::kMap);
  if (sign == "in") return b.kind == Kind::kList || b.kind == Kind::kMap;
  return true;
}

std::string SpelledOut(const std::string& sign) {
  static const std::vector<std::string> kInfix{"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  if (std::find(kInfix.begin(), kInfix.end(), sign) != kInfix.end()) return fmt::format("_{}_", sign);
  return sign == "in" ? "@in" : sign;
}

class Checker {
 public:
  Checker(const Variables& variables, std::optional<Problem>& problem) : variables_(variables), problem_(problem) {}

  Type Visit(Node& node) {
    if (problem_) return Type();
    switch (node.kind) {
      case Node::Kind::kLiteral:
        return Type::Of(KindOf(node.literal));
      case Node::Kind::kVariable:
        return Variable(node);
      case Node::Kind::kSelect:
      case Node::Kind::kHas:
        return Select(node);
      case Node::Kind::kCall:
        return Call(node);
      case Node::Kind::kMethod:
        return Method(node);
      case Node::Kind::kList:
        return ListOf(node);
      case Node::Kind::kMap:
        return MapOf(node);
      case Node::Kind::kComprehension:
        return Comprehension(node);
    }
    return Type();
  }

 private:
  void Fail(const Node& node, std::string text) {
    if (!problem_) problem_ = Problem{node.position, std::move(text)};
  }
  void Undeclared(const Node& node, const std::string& name) {
    Fail(node, fmt::format("undeclared reference to '{}' (in container '')", name));
  }
  void NoOverloadFor(const Node& node, const std::string& name, const std::vector<Type>& types, bool method = false) {
    std::vector<std::string> names;
    for (const Type& type : types) names.push_back(type.ToString());
    const std::string target = method ? names.front() + "." : "";
    if (method) names.erase(names.begin());
    Fail(node,
         fmt::format("found no matching overload for '{}' applied to '{}({})'", name, target, fmt::join(names, ", ")));
  }

  Type Variable(const Node& node) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->first == node.name) return scope->second;
    }
    if (const auto found = variables_.find(node.name); found != variables_.end()) return found->second;
    for (const char* type : {"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"}) {
      if (node.name == type) return Type::Of(Kind::kType);
    }
    Undeclared(node, node.name);
    return Type();
  }

  Type Select(Node& node) {
    Type target = Visit(*node.children[0]);
    const bool through = target.kind == Kind::kOptional;
    if (through && target.element) target = Type(*target.element);  // a copy: the element goes with the target it replaces
    Type field;
    if (target.kind == Kind::kObject) {
      const auto found = target.fields->find(node.name);
      if (found == target.fields->end()) {
        Fail(node, fmt::format("undefined field '{}'", node.name));
        return Type();
      }
      field = found->second;
    } else if (target.kind == Kind::kMap) {
      if (target.element) field = *target.element;
    } else if (target.kind != Kind::kDyn && !through) {
      Fail(node, fmt::format("type '{}' does not support field selection", target.ToString()));
    }
    if (node.kind == Node::Kind::kHas) return Type::Of(Kind::kBool);
    if (node.optional || through) return {Kind::kOptional, std::make_shared<const Type>(std::move(field)), nullptr, ""};
    return field;
  }

  std::vector<Type> VisitAll(Node& node) {
    std::vector<Type> types;
    for (const NodePtr& child : node.children) types.push_back(Visit(*child));
    return types;
  }

  Type Call(Node& node) {
    const std::vector<Type> types = VisitAll(node);
    if (problem_) return Type();
    if (node.name == "&&" || node.name == "||" || node.name == "_?_:_") {
      const std::size_t bools = node.name == "_?_:_" ? 1 : 2;
      for (std::size_t i = 0; i < bools; ++i) {
        if (types[i].kind != Kind::kBool && !IsDyn(types[i])) NoOverloadFor(node, SpelledOut(node.name), types);
      }
      return bools == 2 ? Type::Of(Kind::kBool) : types[1].kind == types[2].kind ? types[1] : Type();
    }
    const Function* function = FindFunction(node.name, false);
    if (!function) {
      Undeclared(node, node.name);
      return Type();
    }
    if (types.size() < function->min_arguments || types.size() > function->max_arguments ||
        (types.size() == 2 && !OperatorFits(node.name, types[0], types[1]))) {
      NoOverloadFor(node, SpelledOut(node.name), types);
      return Type();
    }
    if (node.name == "_[_]") return types[0].element && types[0].kind != Kind::kOptional ? *types[0].element : Type();
    if (node.name == "!_" && types[0].kind != Kind::kBool && !IsDyn(types[0])) NoOverloadFor(node, "!_", types);
    if (node.name == "+" && types[0].kind == types[1].kind) return types[0];
    if ((node.name == "-" || node.name == "*" || node.name == "/" || node.name == "%") && IsNumber(types[0].kind))
      return types[0];
    if (node.name == "-_") return types[0];
    return Type::Of(function->result);
  }

  Type Method(Node& node) {
    // "sets.contains(…)": a function with a dot in its name, unless there is a variable of that name.
    const Node& target = *node.children[0];
    if (target.kind == Node::Kind::kVariable && !variables_.contains(target.name) &&
        FindFunction(target.name + "." + node.name, false)) {
      node.kind = Node::Kind::kCall;
      node.name = target.name + "." + node.name;
      node.children.erase(node.children.begin());
      return Call(node);
    }
    const std::vector<Type> types = VisitAll(node);
    if (problem_) return Type();
    const Function* function = FindFunction(node.name, true);
    if (!function) {
      Undeclared(node, node.name);
      return Type();
    }
    const bool wrong_target = types[0].kind == Kind::kBool || types[0].kind == Kind::kNull ||
                              types[0].kind == Kind::kDouble || types[0].kind == Kind::kInt;
    if (types.size() < function->min_arguments || types.size() > function->max_arguments || wrong_target) {
      NoOverloadFor(node, node.name, types, true);
      return Type();
    }
    if (node.name == "matches" && node.children[1]->literal.Is(Value::Kind::kString)) {
      auto pattern = std::make_shared<const re2::RE2>(node.children[1]->literal.AsString(), re2::RE2::Quiet);
      if (!pattern->ok()) Fail(*node.children[1], "invalid matches argument");
      node.pattern = std::move(pattern);
    }
    if (node.name == "orValue" && types[0].element && !IsDyn(*types[0].element)) return *types[0].element;
    if (node.name == "orValue") return types[1];
    if (node.name == "split" || node.name == "findAll") return Type::ListOf(Type::Of(Kind::kString));
    return Type::Of(function->result);
  }

  Type ListOf(Node& node) {
    const std::vector<Type> types = VisitAll(node);
    const bool alike = !types.empty() &&
                       std::all_of(types.begin(), types.end(), [&](const Type& t) { return t.kind == types[0].kind; });
    return alike ? Type::ListOf(types[0]) : Type::Of(Kind::kList);
  }

  Type MapOf(Node& node) {
    VisitAll(node);
    return Type::Of(Kind::kMap);
  }

  Type Comprehension(Node& node) {
    const Type range = Visit(*node.children[0]);
    if (problem_) return Type();
    if (range.kind != Kind::kList && range.kind != Kind::kMap && !IsDyn(range)) {
      Fail(node,
           fmt::format("expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                       range.ToString()));
      return Type();
    }
    const bool list = range.kind == Kind::kList;
    const Type item = list && range.element                                    ? *range.element
                      : range.kind == Kind::kMap && node.variables.size() == 1 ? Type::Of(Kind::kString)
                                                                               : Type();
    if (node.variables.size() == 2) {
      scopes_.emplace_back(node.variables[0], list ? Type::Of(Kind::kInt) : Type());
      scopes_.emplace_back(node.variables[1], range.element ? *range.element : Type());
    } else {
      scopes_.emplace_back(node.variables[0], item);
    }
    Type body;
    for (std::size_t i = 1; i < node.children.size(); ++i) body = Visit(*node.children[i]);
    scopes_.resize(scopes_.size() - node.variables.size());
    using Macro = Node::Macro;
    const bool predicate = node.macro == Macro::kAll || node.macro == Macro::kExists ||
                           node.macro == Macro::kExistsOne || node.macro == Macro::kFilter;
    if (predicate && body.kind != Kind::kBool && !IsDyn(body))
      NoOverloadFor(node, "_&&_", {Type::Of(Kind::kBool), body});
    switch (node.macro) {
      case Macro::kMap:
      case Macro::kTransformList:
        return Type::ListOf(body);
      case Macro::kFilter:
        return Type::ListOf(item);
      case Macro::kTransformMap:
        return Type::MapOf(body);
      default:
        return Type::Of(Kind::kBool);
    }
  }

  const Variables& variables_;
  std::optional<Problem>& problem_;
  std::vector<std::pair<std::string, Type>> scopes_;
};

}  // namespace

std::string Type::ToString() const {
  switch (kind) {
    case Kind::kDyn:
      return "dyn";
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return fmt::format("list({})", element ? element->ToString() : "dyn");
    case Kind::kMap:
      return fmt::format("map(string, {})", element ? element->ToString() : "dyn");
    case Kind::kTimestamp:
      return "timestamp";
    case Kind::kDuration:
      return "duration";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return fmt::format("optional_type({})", element ? element->ToString() : "dyn");
    case Kind::kObject:
      return name;
  }
  return "dyn";
}

Type Check(Node& node, const Variables& variables, std::optional<Problem>& problem) {
  return Checker(variables, problem).Visit(node);
}

}  // namespace apimesh::cel
