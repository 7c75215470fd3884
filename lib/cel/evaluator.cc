#include "lib/cel/evaluator.h"

#include <re2/re2.h>

#include "lib/cel/functions.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

// How long a value is, for what it costs to look at all of it.
std::uint64_t LengthOf(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kString:
    case Kind::kBytes:
      return value.AsString().size() / 10;
    case Kind::kList:
      return value.AsList().Size();
    case Kind::kMap:
      return value.AsMap().Size();
    default:
      return 0;
  }
}

class Evaluator {
 public:
  Evaluator(const std::map<std::string, Value>& variables, std::uint64_t limit) : variables_(variables), left_(limit) {}

  Value Visit(const Node& node) {
    if (!Spend(1)) return TooExpensive();
    switch (node.kind) {
      case Node::Kind::kLiteral:
        return node.literal;
      case Node::Kind::kVariable:
        return Variable(node.name);
      case Node::Kind::kSelect:
        return Select(node);
      case Node::Kind::kHas:
        return Has(node);
      case Node::Kind::kCall:
        return Call(node);
      case Node::Kind::kMethod:
        return Method(node);
      case Node::Kind::kList:
        return MakeList(node);
      case Node::Kind::kMap:
        return MakeMap(node);
      case Node::Kind::kComprehension:
        return Comprehension(node);
    }
    return Value();
  }

 private:
  bool Spend(std::uint64_t cost) {
    if (cost > left_) {
      left_ = 0;
      exhausted_ = true;
    } else {
      left_ -= cost;
    }
    return !exhausted_;
  }
  static Value TooExpensive() { return Value::Error("operation cancelled: actual cost limit exceeded"); }

  Value Variable(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (*scope->first == name) return scope->second;
    }
    if (const auto found = variables_.find(name); found != variables_.end()) return found->second;
    for (const char* type : {"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"}) {
      if (name == type) return Value::Type(name);
    }
    return Value::Error("no such attribute(s): " + name);
  }

  Value Select(const Node& node) {
    Value target = Visit(*node.children[0]);
    if (target.IsError()) return target;
    const bool through = target.Is(Kind::kOptional);
    if (through) {
      if (!target.AsOptional()) return target;
      target = Value(*target.AsOptional());
    }
    if (!target.Is(Kind::kMap)) return NoOverload();
    std::optional<Value> found = target.AsMap().Find(Value::String(node.name));
    if (node.optional || through) return found ? Value::Some(std::move(*found)) : Value::None();
    return found ? std::move(*found) : Value::Error("no such key: " + node.name);
  }

  Value Has(const Node& node) {
    Value target = Visit(*node.children[0]);
    if (target.IsError()) return target;
    if (target.Is(Kind::kOptional)) {
      if (!target.AsOptional()) return Value::Bool(false);
      target = Value(*target.AsOptional());
    }
    return target.Is(Kind::kMap) ? Value::Bool(target.AsMap().Find(Value::String(node.name)).has_value())
                                 : NoOverload();
  }

  // One side may be an error if the other decides.
  Value Logic(const Node& node, bool decides) {
    const Value left = Visit(*node.children[0]);
    if (left.Is(Kind::kBool) && left.AsBool() == decides) return left;
    const Value right = Visit(*node.children[1]);
    if (right.Is(Kind::kBool) && right.AsBool() == decides) return right;
    for (const Value* side : {&left, &right}) {
      if (side->IsError()) return *side;
      if (!side->Is(Kind::kBool)) return NoOverload();
    }
    return Value::Bool(!decides);
  }

  Value Call(const Node& node) {
    if (node.name == "&&") return Logic(node, false);
    if (node.name == "||") return Logic(node, true);
    if (node.name == "_?_:_") {
      const Value condition = Visit(*node.children[0]);
      if (condition.IsError()) return condition;
      return condition.Is(Kind::kBool) ? Visit(*node.children[condition.AsBool() ? 1 : 2]) : NoOverload();
    }
    return Apply(node, *FindFunction(node.name, false));
  }

  Value Method(const Node& node) {
    if (!node.pattern) return Apply(node, *FindFunction(node.name, true));
    const Value text = Visit(*node.children[0]);
    if (text.IsError()) return text;
    if (!text.Is(Kind::kString)) return NoOverload();
    return Spend(LengthOf(text)) ? Value::Bool(re2::RE2::PartialMatch(text.AsString(), *node.pattern)) : TooExpensive();
  }

  Value Apply(const Node& node, const Function& function) {
    std::vector<Value> arguments;
    arguments.reserve(node.children.size());
    for (const NodePtr& child : node.children) {
      arguments.push_back(Visit(*child));
      if (arguments.back().IsError()) return arguments.back();
      if (function.linear && !Spend(LengthOf(arguments.back()))) return TooExpensive();
    }
    return function.body(arguments);
  }

  Value MakeList(const Node& node) {
    std::vector<Value> items;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      Value item = Visit(*node.children[i]);
      if (item.IsError()) return item;
      if (node.element_optional[i]) {
        if (!item.Is(Kind::kOptional)) return NoOverload();
        if (!item.AsOptional()) continue;
        item = Value(*item.AsOptional());
      }
      items.push_back(std::move(item));
    }
    return Value::FromList(std::move(items));
  }

  Value MakeMap(const Node& node) {
    std::vector<std::pair<Value, Value>> entries;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      Value key = Visit(*node.children[i]), value = Visit(*node.children[i + 1]);
      for (const Value* part : {&key, &value}) {
        if (part->IsError()) return *part;
      }
      if (node.element_optional[i / 2]) {
        if (!value.Is(Kind::kOptional)) return NoOverload();
        if (!value.AsOptional()) continue;
        value = Value(*value.AsOptional());
      }
      if (!Spend(entries.size())) return TooExpensive();
      for (const auto& [known, unused] : entries) {
        if (Equal(known, key)) return Value::Error("Failed with repeated key");
      }
      entries.emplace_back(std::move(key), std::move(value));
    }
    return Value::FromMap(std::move(entries));
  }

  Value Comprehension(const Node& node);

  const std::map<std::string, Value>& variables_;
  std::vector<std::pair<const std::string*, Value>> scopes_;
  std::uint64_t left_;
  bool exhausted_ = false;
};

Value Evaluator::Comprehension(const Node& node) {
  using Macro = Node::Macro;
  const Value range = Visit(*node.children[0]);
  if (range.IsError()) return range;
  if (!range.Is(Kind::kList) && !range.Is(Kind::kMap)) return NoOverload();
  const bool list = range.Is(Kind::kList), two = node.variables.size() == 2;
  const std::vector<Value> keys = list ? std::vector<Value>() : range.AsMap().Keys();
  const std::size_t size = list ? range.AsList().Size() : keys.size();
  std::vector<Value> items;
  std::vector<std::pair<Value, Value>> entries;
  std::optional<Value> error;  // of all() and exists(): forgotten if another element decides
  std::size_t hits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Value first = list ? (two ? Value::Int(static_cast<std::int64_t>(i)) : range.AsList().At(i)) : keys[i];
    const Value second = !two ? Value() : list ? range.AsList().At(i) : *range.AsMap().Find(keys[i]);
    scopes_.emplace_back(&node.variables[0], first);
    if (two) scopes_.emplace_back(&node.variables[1], second);
    Value result = Visit(*node.children[1]);
    bool skipped = false;
    if (node.children.size() == 3) {
      skipped = result.Is(Kind::kBool) && !result.AsBool();
      if (result.Is(Kind::kBool) && !skipped)
        result = Visit(*node.children[2]);
      else if (!skipped && !result.IsError())
        result = NoOverload();
    }
    scopes_.resize(scopes_.size() - node.variables.size());
    if (exhausted_) return TooExpensive();

    switch (node.macro) {
      case Macro::kMap:
      case Macro::kTransformList:
      case Macro::kTransformMap:
        if (result.IsError()) return result;
        if (skipped) break;
        if (node.macro == Macro::kTransformMap)
          entries.emplace_back(first, std::move(result));
        else
          items.push_back(std::move(result));
        break;
      case Macro::kAll:
      case Macro::kExists: {
        const bool decides = node.macro == Macro::kExists;
        if (result.Is(Kind::kBool)) {
          if (result.AsBool() == decides) return result;
        } else if (!error) {
          error = result.IsError() ? result : NoOverload();
        }
        break;
      }
      case Macro::kExistsOne:
      case Macro::kFilter:
        if (result.IsError()) return result;
        if (!result.Is(Kind::kBool)) return NoOverload();
        if (!result.AsBool()) break;
        ++hits;
        if (node.macro == Macro::kFilter) items.push_back(first);
        break;
    }
  }
  if (error) return *error;
  switch (node.macro) {
    case Macro::kAll:
      return Value::Bool(true);
    case Macro::kExists:
      return Value::Bool(false);
    case Macro::kExistsOne:
      return Value::Bool(hits == 1);
    case Macro::kTransformMap:
      return Value::FromMap(std::move(entries));
    default:
      return Value::FromList(std::move(items));
  }
}

}  // namespace

Value Evaluate(const Node& node, const std::map<std::string, Value>& variables, std::uint64_t cost_limit) {
  return Evaluator(variables, cost_limit).Visit(node);
}

}  // namespace apimesh::cel
