#include "lib/cel/check/checker.h"

#include <algorithm>

#include "lib/cel/check/substitution.h"
#include "lib/cel/message/messages.h"

namespace apimesh::cel {
namespace {

using Kind = Type::Kind;

std::string Signature(std::span<const TypeRef> types, bool member) {
  std::string out;
  if (member) {
    out = types[0]->ToString() + ".";
    types = types.subspan(1);
  }
  out += '(';
  for (std::size_t i = 0; i < types.size(); ++i) out += (i ? ", " : "") + types[i]->ToString();
  return out + ')';
}

class Checker {
 public:
  Checker(Ast& ast, const Declarations& declarations, std::span<const Variable> variables, const TypeProvider* types,
          Problems& problems)
      : ast_(ast), declarations_(declarations), types_(types), problems_(problems) {
    for (const Variable& variable : variables) scope_.emplace_back(variable.name, variable.type);
  }

  void CheckAll() {
    CheckNode(*ast_.root);
    for (Node& node : ast_.nodes) {
      if (node.type) node.type = substitution_.Apply(node.type, true);
    }
  }

 private:
  void Report(const Node& node, std::string text) { problems_.Add(node.position, std::move(text)); }
  void Undeclared(const Node& node, std::string_view name) {
    Report(node, fmt::format("undeclared reference to '{}' (in container '')", name));
  }
  void Mismatch(const Node& node, const TypeRef& expected, const TypeRef& found) {
    Report(node, fmt::format("expected type '{}' but found '{}'", expected->ToString(), found->ToString()));
  }

  void CheckNode(Node& node) {
    switch (node.kind) {
      case Node::Kind::kLiteral: node.type = LiteralType(node.literal); break;
      case Node::Kind::kIdent:
        if (!Resolve(node, node.name)) {
          node.type = Type::Error();
          Undeclared(node, node.name);
        }
        break;
      case Node::Kind::kSelect: CheckSelect(node); break;
      case Node::Kind::kCall: CheckCall(node); break;
      case Node::Kind::kList: CheckList(node); break;
      case Node::Kind::kMap: CheckMap(node); break;
      case Node::Kind::kStruct: CheckStruct(node); break;
      case Node::Kind::kComprehension: CheckComprehension(node); break;
      case Node::Kind::kInvalid: node.type = Type::Error(); break;
    }
  }

  static const TypeRef& LiteralType(const Value& value) {
    switch (value.GetKind()) {
      case Value::Kind::kBool: return Type::Bool();
      case Value::Kind::kInt: return Type::Int();
      case Value::Kind::kUint: return Type::Uint();
      case Value::Kind::kDouble: return Type::Double();
      case Value::Kind::kString: return Type::String();
      case Value::Kind::kBytes: return Type::Bytes();
      default: return Type::Null();
    }
  }

  // Makes the node refer to a variable or a type, if there is one with this name.
  bool Resolve(Node& node, std::string_view name) {
    if (name.starts_with('.')) name.remove_prefix(1);
    for (auto variable = scope_.rbegin(); variable != scope_.rend(); ++variable) {
      if (variable->first != name) continue;
      node.type = variable->second;
      SetIdent(node, name);
      return true;
    }
    TypeRef type;
    if (const auto found = declarations_.types.find(name); found != declarations_.types.end()) type = found->second;
    if (!type && types_) type = types_->FindType(name);
    if (!type && name == kNullValue) {
      node.type = Type::Int();
      SetIdent(node, name);
      return true;
    }
    const Message* message = type ? nullptr : FindMessage(name);
    if (message) type = message->type;
    if (!type) return false;
    node.type_value = ast_.types.emplace_back(substitution_.Apply(type, true)).get();
    node.type = Type::TypeOf(type);
    SetIdent(node, name);
    return true;
  }
  static void SetIdent(Node& node, std::string_view name) {
    std::string copy(name);
    node.kind = Node::Kind::kIdent;
    node.name = std::move(copy);
  }

  void CheckSelect(Node& node) {
    if (const auto name = QualifiedName(node); name && Resolve(node, *name)) return;
    TypeRef type = FieldType(node, *node.args[0], node.name, false);
    node.type = node.test_only ? Type::Bool() : substitution_.Apply(type, false);
  }

  TypeRef FieldType(Node& node, Node& operand, const std::string& field, bool optional) {
    CheckNode(operand);
    TypeRef target = substitution_.Apply(operand.type, false);
    if (target->IsOptional()) {
      target = target->parameters[0];
      optional = true;
    }
    TypeRef result = Type::Error();
    if (target->Is(Kind::kMap)) {
      result = target->parameters[1];
    } else if (target->Is(Kind::kObject)) {
      if (TypeRef found = LookUpField(node.position, target->name, field)) result = found;
    } else {
      if (target->Is(Kind::kParameter)) {
        substitution_.Assign(Type::Dyn(), target);
      } else if (!IsDynOrError(*target)) {
        Report(node, fmt::format("type '{}' does not support field selection", target->ToString()));
      }
      result = Type::Dyn();
    }
    return optional ? Type::Optional(result) : result;
  }

  TypeRef LookUpField(std::int32_t position, const std::string& type, const std::string& field) {
    if (const Message* message = FindMessage(type)) {
      if (const MessageField* found = message->FindField(field)) return found->type;
      problems_.Add(position, fmt::format("undefined field '{}'", field));
      return nullptr;
    }
    if (!types_ || !types_->FindType(type)) {
      problems_.Add(position, fmt::format("unexpected failed resolution of '{}'", type));
      return nullptr;
    }
    TypeRef found = types_->FindField(type, field);
    if (!found) problems_.Add(position, fmt::format("undefined field '{}'", field));
    return found;
  }

  void CheckCall(Node& node) {
    if (node.name == "_?._") {
      TypeRef type = FieldType(node, *node.args[0], std::string(node.args[1]->literal.AsString()), true);
      CheckNode(*node.args[1]);
      node.type = substitution_.Apply(type, false);
      node.function = declarations_.FindFunction(node.name);
      if (node.function) node.overloads = {&node.function->overloads[0]};
      return;
    }
    for (Node* arg : node.args) CheckNode(*arg);
    if (!node.target) {
      node.function = declarations_.FindFunction(node.name);
      if (!node.function) return FailCall(node);
      node.name = node.function->name;  // without a leading dot
      return ResolveOverload(node);
    }
    // Given a.b.c(), either a.b.c is a function, or c is one with the target a.b.
    if (const auto prefix = QualifiedName(*node.target)) {
      if (const Function* function = declarations_.FindFunction(*prefix + "." + node.name)) {
        node.function = function;
        node.name = function->name;
        node.target = nullptr;
        return ResolveOverload(node);
      }
    }
    CheckNode(*node.target);
    node.function = declarations_.FindFunction(node.name);
    if (!node.function) return FailCall(node);
    ResolveOverload(node);
  }
  void FailCall(Node& node) {
    node.type = Type::Error();
    Undeclared(node, node.name);
  }

  void ResolveOverload(Node& node) {
    std::vector<TypeRef> args;
    if (node.target) args.push_back(node.target->type);
    for (const Node* arg : node.args) args.push_back(arg->type);
    if (node.name == "_&&_" || node.name == "_||_") return CheckLogical(node, args);
    TypeRef result;
    for (const Overload& overload : node.function->overloads) {
      if (overload.member != (node.target != nullptr)) continue;
      std::vector<std::pair<std::string, TypeRef>> names;
      std::vector<TypeRef> wanted;
      for (const TypeRef& arg : overload.args) wanted.push_back(substitution_.Instantiate(arg, names));
      const TypeRef returned = substitution_.Instantiate(overload.result, names);
      if (!substitution_.AssignAll(args, wanted)) continue;
      node.overloads.push_back(&overload);
      const TypeRef type = substitution_.Apply(returned, false);
      if (!result) {
        result = type;
      } else if (!IsDyn(*result) && !SameType(*type, *result)) {
        result = Type::Dyn();
      }
    }
    if (result) {
      node.type = result;
      return;
    }
    for (TypeRef& arg : args) arg = substitution_.Apply(arg, true);
    Report(node, fmt::format("found no matching overload for '{}' applied to '{}'", node.function->name,
                             Signature(args, node.target != nullptr)));
    node.type = Type::Error();
  }

  void CheckLogical(Node& node, const std::vector<TypeRef>& args) {
    node.type = Type::Bool();
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (substitution_.Assign(args[i], Type::Bool())) continue;
      Mismatch(*node.args[i], Type::Bool(), args[i]);
      node.type = Type::Error();
    }
    node.overloads = {&node.function->overloads[0]};
  }

  // The type of an element that is written "?x".
  TypeRef Unwrap(const Node& node, bool optional) {
    if (!optional) return node.type;
    if (node.type->IsOptional()) return node.type->parameters[0];
    if (!IsDyn(*node.type)) Mismatch(node, Type::Optional(node.type), node.type);
    return node.type;
  }
  void Join(TypeRef& joined, const TypeRef& type) {
    if (!joined) {
      joined = type;
    } else if (substitution_.Assign(joined, type)) {
      joined = MostGeneral(joined, type);
    } else {
      joined = Type::Dyn();  // Validate() reports it, except within format()
    }
  }

  void CheckList(Node& node) {
    TypeRef element;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      CheckNode(*node.args[i]);
      Join(element, Unwrap(*node.args[i], node.optional[i]));
    }
    node.type = Type::List(element ? element : substitution_.NewVariable());
  }

  void CheckMap(Node& node) {
    TypeRef key, value;
    for (std::size_t i = 0; i < node.args.size(); i += 2) {
      CheckNode(*node.args[i]);
      Join(key, node.args[i]->type);
      CheckNode(*node.args[i + 1]);
      Join(value, Unwrap(*node.args[i + 1], node.optional[i / 2]));
    }
    if (!key) {
      key = substitution_.NewVariable();
      value = substitution_.NewVariable();
    }
    node.type = Type::Map(key, value);
  }

  void CheckStruct(Node& node) {
    std::string_view name = node.name;
    if (name.starts_with('.')) name.remove_prefix(1);
    Node ident;
    if (!Resolve(ident, name)) {
      node.type = Type::Error();
      return Undeclared(node, node.name);
    }
    TypeRef result = Type::Error();
    if (!ident.type->Is(Kind::kType)) {
      Report(node, fmt::format("'{}' is not a type", ident.type->name));
    } else if (!ident.type->parameters[0]->Is(Kind::kObject) && !FindMessage(name)) {
      Report(node, fmt::format("'{}' is not a message type", ident.type->parameters[0]->name));
    } else {
      result = ident.type->parameters[0];
    }
    node.type = result;
    node.name = std::string(name);
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      CheckNode(*node.args[i]);
      TypeRef field = LookUpField(node.entry_positions[i], node.name, node.fields[i]);
      if (!field) field = Type::Error();
      const TypeRef type = Unwrap(*node.args[i], node.optional[i]);
      if (substitution_.Assign(field, type)) continue;
      problems_.Add(node.entry_positions[i],
                    fmt::format("expected type of field '{}' is '{}' but provided type is '{}'", node.fields[i],
                                field->ToString(), type->ToString()));
    }
  }

  void CheckComprehension(Node& node) {
    Node& range_node = *node.args[Node::kRange];
    CheckNode(range_node);
    CheckNode(*node.args[Node::kInit]);
    const TypeRef range = substitution_.Apply(range_node.type, false);
    const TypeRef result = node.args[Node::kInit]->type;
    const std::size_t outer = scope_.size();
    scope_.emplace_back(node.accumulator, result);
    TypeRef first = Type::Dyn(), second = Type::Dyn();
    if (range->Is(Kind::kList)) {
      first = node.variable2.empty() ? range->parameters[0] : Type::Int();
      second = range->parameters[0];
    } else if (range->Is(Kind::kMap)) {
      first = range->parameters[0];
      second = range->parameters[1];
    } else if (range->Is(Kind::kDyn) || range->Is(Kind::kError) || range->Is(Kind::kParameter)) {
      substitution_.Assign(Type::Dyn(), range);
    } else {
      Report(range_node,
             fmt::format("expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                         range->ToString()));
      first = second = Type::Error();
    }
    scope_.emplace_back(node.variable, first);
    if (!node.variable2.empty()) scope_.emplace_back(node.variable2, second);
    CheckNode(*node.args[Node::kCondition]);
    AssertType(*node.args[Node::kCondition], Type::Bool());
    CheckNode(*node.args[Node::kStep]);
    AssertType(*node.args[Node::kStep], result);
    scope_.resize(outer + 1);
    CheckNode(*node.args[Node::kResult]);
    scope_.resize(outer);
    node.type = substitution_.Apply(node.args[Node::kResult]->type, false);
  }
  void AssertType(const Node& node, const TypeRef& type) {
    if (!substitution_.Assign(type, node.type)) Mismatch(node, type, node.type);
  }

  Ast& ast_;
  const Declarations& declarations_;
  const TypeProvider* types_;
  Problems& problems_;
  Substitution substitution_;
  std::vector<std::pair<std::string, TypeRef>> scope_;
};

}  // namespace

void Check(Ast& ast, const Declarations& declarations, std::span<const Variable> variables, const TypeProvider* types,
           Problems& problems) {
  Checker(ast, declarations, variables, types, problems).CheckAll();
}

}  // namespace apimesh::cel
