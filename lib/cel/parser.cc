#include "lib/cel/parser.h"

#include <map>

namespace apimesh::cel {
namespace {

constexpr int kMaxDepth = 250;
constexpr std::size_t kMaxTokens = 20'000;

const std::map<std::string_view, Node::Macro> kMacros{{"all", Node::Macro::kAll},
                                                      {"exists", Node::Macro::kExists},
                                                      {"exists_one", Node::Macro::kExistsOne},
                                                      {"existsOne", Node::Macro::kExistsOne},
                                                      {"map", Node::Macro::kMap},
                                                      {"filter", Node::Macro::kFilter},
                                                      {"transformList", Node::Macro::kTransformList},
                                                      {"transformMap", Node::Macro::kTransformMap}};

// Tightest last.
const std::vector<std::vector<std::string_view>> kLevels{
    {"||"}, {"&&"}, {"<", "<=", ">=", ">", "==", "!=", "in"}, {"+", "-"}, {"*", "/", "%"}};

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::optional<Problem>& problem) : tokens_(std::move(tokens)), problem_(problem) {}

  NodePtr Run() {
    if (tokens_.size() > kMaxTokens) Fail("expression is too long");
    NodePtr node = Conditional();
    if (!problem_ && Now().kind != Token::Kind::kEnd) Unexpected();
    return problem_ ? nullptr : std::move(node);
  }

 private:
  const Token& Now() const { return tokens_[at_]; }
  void Fail(std::string text) { FailAt(Now().position, std::move(text)); }
  void FailAt(std::size_t position, std::string text) {
    if (!problem_) problem_ = Problem{position, std::move(text)};
  }
  void Unexpected() {
    if (Now().kind == Token::Kind::kEnd) return Fail("Syntax error: mismatched input '<EOF>'");
    Fail(fmt::format("Syntax error: mismatched input '{}'", Now().kind == Token::Kind::kLiteral
                                                                ? boost::json::serialize(Now().literal.ToJson())
                                                                : Now().text));
  }
  bool At(std::string_view punctuation) const {
    return Now().kind == Token::Kind::kPunctuation && Now().text == punctuation;
  }
  bool Take(std::string_view punctuation) {
    if (problem_ || !At(punctuation)) return false;
    ++at_;
    return true;
  }
  void Want(std::string_view punctuation) {
    if (!Take(punctuation)) Unexpected();
  }
  NodePtr New(Node::Kind kind, std::size_t position, std::string name = "") {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->position = position;
    node->name = std::move(name);
    return node;
  }
  NodePtr Operator(std::string name, std::size_t position, NodePtr a, NodePtr b = nullptr, NodePtr c = nullptr) {
    NodePtr node = New(Node::Kind::kCall, position, std::move(name));
    for (NodePtr* child : {&a, &b, &c}) {
      if (*child) node->children.push_back(std::move(*child));
    }
    return node;
  }
  // A node that stands for what could not be parsed, so that no pointer is ever null.
  NodePtr Nothing() { return New(Node::Kind::kLiteral, Now().position); }

  struct Depth {
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > kMaxDepth) parser.Fail("expression recursion limit exceeded: 250");
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  NodePtr Conditional() {
    const Depth depth(*this);
    if (problem_) return Nothing();
    NodePtr condition = Binary(0);
    const std::size_t position = Now().position;
    if (!Take("?")) return condition;
    NodePtr yes = Binary(0);
    Want(":");
    return Operator("_?_:_", position, std::move(condition), std::move(yes), Conditional());
  }

  NodePtr Binary(std::size_t level) {
    if (problem_) return Nothing();
    if (level == kLevels.size()) return Unary();
    NodePtr left = Binary(level + 1);
    int length = 0;
    while (!problem_ && Now().kind == Token::Kind::kPunctuation) {
      const auto& signs = kLevels[level];
      if (std::find(signs.begin(), signs.end(), Now().text) == signs.end()) break;
      // a+b+c+… grows to the left; evaluation goes down it.
      if (++length > kMaxDepth) Fail("expression recursion limit exceeded: 250");
      const Token& sign = tokens_[at_++];
      left = Operator(sign.text, sign.position, std::move(left), Binary(level + 1));
    }
    return left;
  }

  NodePtr Unary() {
    const Depth depth(*this);
    if (problem_) return Nothing();
    const std::size_t position = Now().position;
    if (Take("!")) return Operator("!_", position, Unary());
    if (!Take("-")) return Member();
    if (Now().kind == Token::Kind::kLiteral && Now().literal.IsNumber() &&
        !(tokens_[at_ + 1].kind == Token::Kind::kPunctuation && tokens_[at_ + 1].text == ".")) {
      NodePtr number = Literal();
      const Value& value = number->literal;
      if (value.Is(Value::Kind::kInt))
        number->literal = Value::Int(-value.AsInt());
      else if (value.Is(Value::Kind::kDouble))
        number->literal = Value::Double(-value.AsDouble());
      else if (value.AsUint() == 0x8000000000000000u)
        number->literal = Value::Int(INT64_MIN);
      else
        return Operator("-_", position, std::move(number));
      return number;
    }
    return Operator("-_", position, Unary());
  }

  NodePtr Literal() {
    NodePtr node = New(Node::Kind::kLiteral, Now().position);
    node->literal = tokens_[at_++].literal;
    return node;
  }

  NodePtr Member() {
    NodePtr node = Primary();
    for (int length = 0; !problem_; ++length) {
      if (length > kMaxDepth) Fail("expression recursion limit exceeded: 250");
      const std::size_t position = Now().position;
      if (Take(".?") || At(".")) {
        const bool optional = !Take(".");
        node = Selected(std::move(node), position, optional);
      } else if (Take("[?")) {
        node = Operator("_[?_]", position, std::move(node), Conditional());
        Want("]");
      } else if (Take("[")) {
        node = Operator("_[_]", position, std::move(node), Conditional());
        Want("]");
      } else {
        break;
      }
    }
    return node;
  }

  NodePtr Selected(NodePtr target, std::size_t position, bool optional) {
    if (Now().kind != Token::Kind::kIdentifier) {
      Unexpected();
      return target;
    }
    const std::string name = tokens_[at_++].text;
    if (optional || !At("(")) {
      NodePtr node = New(Node::Kind::kSelect, position, name);
      node->optional = optional;
      node->children.push_back(std::move(target));
      return node;
    }
    const std::size_t open = Now().position;
    std::vector<NodePtr> arguments = Arguments();
    const auto macro = kMacros.find(name);
    if (macro != kMacros.end() && arguments.size() >= 2)
      return Comprehension(macro->second, std::move(target), std::move(arguments), open);
    NodePtr node = New(Node::Kind::kMethod, open, name);
    node->children.push_back(std::move(target));
    for (NodePtr& argument : arguments) node->children.push_back(std::move(argument));
    return node;
  }

  NodePtr Comprehension(Node::Macro macro, NodePtr range, std::vector<NodePtr> arguments, std::size_t position) {
    using Macro = Node::Macro;
    const bool transforms = macro == Macro::kTransformList || macro == Macro::kTransformMap;
    const bool may_filter = transforms || macro == Macro::kMap;
    // map(x, filter, body) has three arguments like all(i, x, predicate): only the former is about one variable.
    const std::size_t variables = transforms || (macro != Macro::kMap && arguments.size() == 3) ? 2 : 1;
    const std::size_t bodies = arguments.size() - std::min(arguments.size(), variables);
    if (bodies == 0 || bodies > (may_filter ? 2u : 1u) || (macro == Macro::kFilter && variables == 2)) {
      FailAt(position, "found no matching overload: wrong number of arguments to a macro");
      return Nothing();
    }
    NodePtr node = New(Node::Kind::kComprehension, position);
    node->macro = macro;
    for (std::size_t i = 0; i < variables; ++i) {
      if (arguments[i]->kind != Node::Kind::kVariable) {
        FailAt(arguments[i]->position, "argument must be a simple name");
        return Nothing();
      }
      node->variables.push_back(arguments[i]->name);
    }
    node->children.push_back(std::move(range));
    for (std::size_t i = variables; i < arguments.size(); ++i) node->children.push_back(std::move(arguments[i]));
    return node;
  }

  std::vector<NodePtr> Arguments() {
    std::vector<NodePtr> arguments;
    Want("(");
    if (Take(")")) return arguments;
    do arguments.push_back(Conditional());
    while (Take(","));
    Want(")");
    return arguments;
  }

  NodePtr Primary() {
    if (problem_) return Nothing();
    const std::size_t position = Now().position;
    if (Now().kind == Token::Kind::kLiteral) {
      if (Now().literal.Is(Value::Kind::kUint) && Now().literal.AsUint() == 0x8000000000000000u &&
          (at_ == 0 || tokens_[at_ - 1].text != "-")) {
        FailAt(position, "Syntax error: invalid int literal");
      }
      return Literal();
    }
    if (Take("(")) {
      NodePtr node = Conditional();
      Want(")");
      return node;
    }
    if (At("[") || At("[?")) return ListLiteral();
    if (Take("{")) return MapLiteral(position);
    Take(".");
    if (Now().kind != Token::Kind::kIdentifier) {
      Unexpected();
      return Nothing();
    }
    const std::string name = tokens_[at_++].text;
    if (!At("(")) return New(Node::Kind::kVariable, position, name);
    const std::size_t open = Now().position;
    std::vector<NodePtr> arguments = Arguments();
    if (name == "has" && arguments.size() == 1) return Has(std::move(arguments[0]), open);
    NodePtr node = New(Node::Kind::kCall, open, name);
    node->children = std::move(arguments);
    return node;
  }

  NodePtr Has(NodePtr argument, std::size_t position) {
    if (argument->kind != Node::Kind::kSelect || argument->optional) {
      FailAt(argument->position, "invalid argument to has() macro");
      return Nothing();
    }
    argument->kind = Node::Kind::kHas;
    argument->position = position;
    return argument;
  }

  NodePtr ListLiteral() {
    NodePtr node = New(Node::Kind::kList, Now().position);
    bool first_optional = Take("[?");
    if (!first_optional) Want("[");
    while (!problem_ && !At("]")) {
      node->element_optional.push_back(first_optional || Take("?"));
      first_optional = false;
      node->children.push_back(Conditional());
      if (!Take(",")) break;
    }
    Want("]");
    return node;
  }

  NodePtr MapLiteral(std::size_t position) {
    NodePtr node = New(Node::Kind::kMap, position);
    while (!problem_ && !At("}")) {
      node->element_optional.push_back(Take("?"));
      node->children.push_back(Conditional());
      Want(":");
      node->children.push_back(Conditional());
      if (!Take(",")) break;
    }
    Want("}");
    return node;
  }

  const std::vector<Token> tokens_;
  std::optional<Problem>& problem_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

NodePtr Parse(std::string_view source, std::optional<Problem>& problem) {
  std::vector<Token> tokens = Tokenize(source, problem);
  if (problem) return nullptr;
  return Parser(std::move(tokens), problem).Run();
}

}  // namespace apimesh::cel
