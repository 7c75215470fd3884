#include "lib/cel/syntax/macros.h"

namespace apimesh::cel {
namespace {

constexpr char kAccumulator[] = "@result";
/// Each optMap() of a chain doubles the expression before it. Copies beyond this number must not outnumber the nodes
/// that are written in the expression.
constexpr std::size_t kFreeCopies = 1000;
using Args = std::vector<Node*>;

/// Builds the nodes of one expansion; all of them have the position of the macro.
class Expansion {
 public:
  Expansion(Ast& ast, std::int32_t position, Node* target, const Args& args, Problems& problems)
      : ast_(ast), position_(position), target_(target), args_(args), problems_(problems) {}

  Node* Has() {
    if (args_[0]->kind != Node::Kind::kSelect) return Fail(*args_[0], "invalid argument to has() macro");
    Node* out = ast_.New(Node::Kind::kSelect, position_);
    out->name = args_[0]->name;
    out->args = args_[0]->args;
    out->test_only = true;
    return out;
  }

  Node* All() {
    return Quantifier(Bool(true), Call("@not_strictly_false", {Result()}), Call("_&&_", {Result(), args_.back()}),
                      Result());
  }
  Node* Exists() {
    return Quantifier(Bool(false), Call("@not_strictly_false", {Call("!_", {Result()})}),
                      Call("_||_", {Result(), args_.back()}), Result());
  }
  Node* ExistsOne() {
    Node* step = Call("_?_:_", {args_.back(), Call("_+_", {Result(), Int(1)}), Result()});
    return Quantifier(Int(0), Bool(true), step, Call("_==_", {Result(), Int(1)}));
  }

  Node* Map() {
    if (!HasVariables(1, "argument is not an identifier")) return invalid_;
    return Fold(List({}), Bool(true), Filtered(1, Call("_+_", {Result(), List({args_.back()})})), Result());
  }
  Node* Filter() {
    if (!HasVariables(1, "argument is not an identifier")) return invalid_;
    Node* add = Call("_+_", {Result(), List({ast_.Copy(*args_[0])})});
    return Fold(List({}), Bool(true), Call("_?_:_", {args_[1], add, Result()}), Result());
  }
  Node* TransformList() {
    if (!HasVariables(2, kSimpleName)) return invalid_;
    return Fold(List({}), Bool(true), Filtered(2, Call("_+_", {Result(), List({args_.back()})})), Result());
  }
  Node* TransformMap() {
    if (!HasVariables(2, kSimpleName)) return invalid_;
    Node* insert = Call("cel.@mapInsert", {Result(), Ident(args_[0]->name), args_.back()});
    return Fold(EmptyMap(), Bool(true), Filtered(2, insert), Result());
  }
  Node* TransformMapEntry() {
    if (!HasVariables(2, kSimpleName)) return invalid_;
    return Fold(EmptyMap(), Bool(true), Filtered(2, Call("cel.@mapInsert", {Result(), args_.back()})), Result());
  }

  Node* OptionalMap(bool flat) {
    if (args_[0]->kind != Node::Kind::kIdent) {
      return Fail(*args_[0],
                  fmt::format("{}() variable name must be a simple identifier", flat ? "optFlatMap" : "optMap"));
    }
    Node* copy = ast_.Copy(*target_);
    const std::size_t written = ast_.nodes.size() - ast_.copied;
    if (ast_.copied > kFreeCopies + written) return Fail(*target_, "too many nested optional macros");
    Node* body = Bind(args_[0]->name, Member("value", copy, {}), args_[1]);
    if (!flat) body = Call("optional.of", {body});
    return Call("_?_:_", {Member("hasValue", target_, {}), body, Call("optional.none", {})});
  }

  // cel.bind(variable, value, body)
  Node* BindMacro() {
    if (args_[0]->kind != Node::Kind::kIdent)
      return Fail(*args_[0], "cel.bind() variable names must be simple identifiers");
    return Bind(args_[0]->name, args_[1], args_[2]);
  }

  // target.sortBy(e, key) evaluates the target once, then the keys of its elements.
  Node* SortBy() {
    constexpr char kInput[] = "@__sortBy_input__";
    const Node::Kind kind = target_->kind;
    if (kind == Node::Kind::kLiteral || kind == Node::Kind::kMap || kind == Node::Kind::kStruct) {
      return Fail(*target_,
                  "sortBy can only be applied to a list, identifier, comprehension, call or select expression");
    }
    Node* list = target_;
    target_ = Ident(kInput);
    Node* keys = Map();
    if (keys == invalid_) return invalid_;
    return Bind(kInput, list, Member("@sortByAssociatedKeys", Ident(kInput), {keys}));
  }

 private:
  static constexpr char kSimpleName[] = "argument must be a simple name";

  Node* Fail(const Node& at, std::string text) {
    problems_.Add(at.position, std::move(text));
    return invalid_ = ast_.New(Node::Kind::kInvalid, position_);
  }
  // Checks that the first `count` arguments are different names.
  bool HasVariables(std::size_t count, const char* text) {
    for (std::size_t i = 0; i < count; ++i) {
      if (args_[i]->kind != Node::Kind::kIdent) return Fail(*args_[i], text), false;
    }
    if (count == 2 && args_[0]->name == args_[1]->name)
      return Fail(*args_[1], "duplicate variable name: " + args_[0]->name), false;
    for (std::size_t i = 0; i < count; ++i) {
      if (args_[i]->name == kAccumulator || args_[i]->name == "__result__")
        return Fail(*args_[i], "iteration variable overwrites accumulator variable"), false;
    }
    variables_ = count;
    return true;
  }

  Node* Quantifier(Node* init, Node* condition, Node* step, Node* result) {
    if (!HasVariables(args_.size() - 1, kSimpleName)) return invalid_;
    return Fold(init, condition, step, result);
  }
  // The step only for elements that satisfy the condition args_[index], if there is one.
  Node* Filtered(std::size_t index, Node* step) {
    return args_.size() == index + 2 ? Call("_?_:_", {args_[index], step, Result()}) : step;
  }
  Node* Fold(Node* init, Node* condition, Node* step, Node* result) {
    Node* out = ast_.New(Node::Kind::kComprehension, position_);
    out->args = {target_, init, condition, step, result};
    out->variable = args_[0]->name;
    if (variables_ == 2) out->variable2 = args_[1]->name;
    out->accumulator = kAccumulator;
    return out;
  }
  // `body` with a variable: a comprehension over nothing.
  Node* Bind(std::string name, Node* value, Node* body) {
    Node* out = ast_.New(Node::Kind::kComprehension, position_);
    out->args = {List({}), value, Bool(false), Ident(name), body};
    out->variable = "#unused";
    out->accumulator = std::move(name);
    return out;
  }

  Node* Literal(Value value) {
    Node* out = ast_.New(Node::Kind::kLiteral, position_);
    out->literal = value;
    return out;
  }
  Node* Bool(bool value) { return Literal(Value::Bool(value)); }
  Node* Int(std::int64_t value) { return Literal(Value::Int(value)); }
  Node* Ident(std::string name) {
    Node* out = ast_.New(Node::Kind::kIdent, position_);
    out->name = std::move(name);
    return out;
  }
  Node* Result() { return Ident(kAccumulator); }
  Node* Call(std::string name, Args args) {
    Node* out = ast_.New(Node::Kind::kCall, position_);
    out->name = std::move(name);
    out->args = std::move(args);
    return out;
  }
  Node* Member(std::string name, Node* target, Args args) {
    Node* out = Call(std::move(name), std::move(args));
    out->target = target;
    return out;
  }
  Node* List(Args items) {
    Node* out = ast_.New(Node::Kind::kList, position_);
    out->args = std::move(items);
    out->optional.resize(out->args.size());
    return out;
  }
  Node* EmptyMap() { return ast_.New(Node::Kind::kMap, position_); }

  Ast& ast_;
  const std::int32_t position_;
  Node* target_;
  const Args& args_;
  Problems& problems_;
  std::size_t variables_ = 1;
  Node* invalid_ = nullptr;
};

Node* ExpandTwoVariables(Expansion& expansion, std::string_view function, std::size_t count) {
  if (function == "all" && count == 3) return expansion.All();
  if (function == "exists" && count == 3) return expansion.Exists();
  if ((function == "exists_one" || function == "existsOne") && count == 3) return expansion.ExistsOne();
  if (count != 3 && count != 4) return nullptr;
  if (function == "transformList") return expansion.TransformList();
  if (function == "transformMap") return expansion.TransformMap();
  return function == "transformMapEntry" ? expansion.TransformMapEntry() : nullptr;
}

}  // namespace

Node* ExpandMacro(Ast& ast, const MacroSet& macros, std::int32_t position, std::string_view function, Node* target,
                  const Args& args, Problems& problems) {
  const std::size_t count = args.size();
  Expansion expansion(ast, position, target, args, problems);
  if (!target) return function == "has" && count == 1 ? expansion.Has() : nullptr;
  if (count == 2) {
    if (function == "all") return expansion.All();
    if (function == "exists") return expansion.Exists();
    if (function == "exists_one") return expansion.ExistsOne();
    if (function == "filter") return expansion.Filter();
    if (function == "map") return expansion.Map();
    if (macros.optionals && function == "optMap") return expansion.OptionalMap(false);
    if (macros.optionals && function == "optFlatMap") return expansion.OptionalMap(true);
    if (macros.lists && function == "sortBy") return expansion.SortBy();
  }
  if (function == "map" && count == 3) return expansion.Map();
  const bool of_cel = target->kind == Node::Kind::kIdent && target->name == "cel";
  if (macros.bindings && function == "bind" && count == 3 && of_cel) return expansion.BindMacro();
  return macros.two_variables ? ExpandTwoVariables(expansion, function, count) : nullptr;
}

}  // namespace apimesh::cel
