#include "lib/cel/check/checker.h"
#include "lib/cel/library/format_text.h"
#include "lib/cel/library/regex.h"
#include "lib/cel/value/time.h"

namespace apimesh::cel {
namespace {

using Kind = Node::Kind;

/// Visits an expression. Elements of different types are allowed within the arguments of format().
class Validator {
 public:
  Validator(const Declarations& declarations, Problems& problems) : declarations_(declarations), problems_(problems) {}

  // The problems of one check come after those of the other, as they are sorted by position only.
  void Visit(const Node& node, bool in_format) {
    if (node.kind == Kind::kCall) {
      if (declarations_.validate_literals) CheckLiteral(node);
      if (declarations_.validate_formats && node.name == "format" && node.target) CheckFormat(node);
      in_format = in_format || (declarations_.validate_formats && node.name == "format");
    }
    if (!in_format) {
      if (node.kind == Kind::kList) CheckList(node);
      if (node.kind == Kind::kMap) CheckMap(node);
    }
    if (node.target) Visit(*node.target, in_format);
    for (const Node* arg : node.args) Visit(*arg, in_format);
  }

 private:
  void CheckLiteral(const Node& node) {
    if (node.args.empty() || node.args[0]->kind != Kind::kLiteral) return;
    const Value& literal = node.args[0]->literal;
    bool valid = true;
    if (node.name == "matches" && literal.Is(Value::Kind::kString)) {
      std::string error;
      valid = CompilePattern(literal.AsString(), error) != nullptr;
    } else if (node.name == "duration") {
      valid = literal.Is(Value::Kind::kString) && ParseDuration(literal.AsString());
    } else if (node.name == "timestamp") {
      std::optional<Value> time;
      if (literal.Is(Value::Kind::kString)) time = ParseTimestamp(literal.AsString());
      if (literal.Is(Value::Kind::kInt)) time = literal;
      valid = time && time->AsInt() >= kMinUnixTime && time->AsInt() <= kMaxUnixTime;
    }
    if (!valid) problems_.Add(node.args[0]->position, fmt::format("invalid {} argument", node.name));
  }

  void CheckFormat(const Node& node) {
    const Node& format = *node.target;
    if (format.kind != Kind::kLiteral || !format.literal.Is(Value::Kind::kString) || node.args.size() != 1 ||
        node.args[0]->kind != Kind::kList)
      return;
    const std::vector<Node*>& args = node.args[0]->args;
    std::int32_t position = node.position;
    std::size_t used = 0;
    const auto check = [&](const FormatClause& clause, std::size_t index, std::string&, std::string& error) {
      used = index + 1;
      const Node* wrong = FindWrong(clause.verb, *args[index]);
      if (!wrong) return true;
      position = wrong->position;
      error = WrongArgument(clause.verb, wrong->type->name);
      return false;
    };
    std::string text, error;
    if (!ReadFormat(format.literal.AsString(), args.size(), true, check, text, error)) {
      problems_.Add(position, error);
    } else if (args.size() > used) {
      problems_.Add(node.position, fmt::format("too many arguments supplied to string.format (expected {}, got {})",
                                               used, args.size()));
    }
  }

  // The argument, or the part of it, that a clause can't format.
  static const Node* FindWrong(char verb, const Node& node) {
    using T = Type::Kind;
    const T kind = node.type->kind;
    if (kind == T::kDyn) return nullptr;
    bool valid = kind == T::kInt || kind == T::kUint;
    if (verb == 'f' || verb == 'e') valid = kind == T::kDouble || kind == T::kString;
    if (verb == 'b') valid = valid || kind == T::kBool;
    if (verb == 'x' || verb == 'X') valid = valid || kind == T::kString || kind == T::kBytes;
    if (verb != 's') return valid ? nullptr : &node;
    if (kind == T::kAny || kind == T::kOpaque || kind == T::kObject || kind == T::kError || kind == T::kParameter)
      return &node;
    if (node.kind != Kind::kList && node.kind != Kind::kMap) return nullptr;
    for (const Node* arg : node.args) {
      if (const Node* wrong = FindWrong(verb, *arg)) return wrong;
    }
    return nullptr;
  }

  static const TypeRef& Unwrap(const Node& node, bool optional) {
    return optional && !node.type->parameters.empty() ? node.type->parameters[0] : node.type;
  }
  bool SameAs(const TypeRef& wanted, const Node& node, const TypeRef& type) {
    if (SameType(*wanted, *type, false)) return true;
    problems_.Add(node.position,
                  fmt::format("expected type '{}' but found '{}'", wanted->ToString(), type->ToString()));
    return false;
  }
  void CheckList(const Node& node) {
    for (std::size_t i = 1; i < node.args.size(); ++i) {
      if (!SameAs(Unwrap(*node.args[0], node.optional[0]), *node.args[i], Unwrap(*node.args[i], node.optional[i])))
        return;
    }
  }
  void CheckMap(const Node& node) {
    for (std::size_t i = 2; i < node.args.size(); i += 2) {
      SameAs(node.args[0]->type, *node.args[i], node.args[i]->type);
      SameAs(Unwrap(*node.args[1], node.optional[0]), *node.args[i + 1],
             Unwrap(*node.args[i + 1], node.optional[i / 2]));
    }
  }

  const Declarations& declarations_;
  Problems& problems_;
};

}  // namespace

void Validate(const Ast& ast, const Declarations& declarations, Problems& problems) {
  Validator(declarations, problems).Visit(*ast.root, false);
}

}  // namespace apimesh::cel
