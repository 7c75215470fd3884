#include "lib/cel/syntax/parser.h"

#include <algorithm>

#include "lib/cel/syntax/literals.h"
#include "lib/cel/syntax/token_stream.h"
#include "lib/cel/types/shape.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

constexpr std::size_t kMaxCodePoints = 100'000;
constexpr int kMaxDepth = 250;
using Kind = Node::Kind;

class Parser {
 public:
  Parser(Ast& ast, std::vector<Token> tokens, const MacroSet& macros, Problems& problems)
      : ast_(ast), tokens_(std::move(tokens), problems), macros_(macros), problems_(problems) {}

  Node* ParseAll() {
    Node* out = Expression();
    tokens_.Expect("");
    return out;
  }

 private:
  // Each rule of the grammar may be entered this often at a time.
  struct Depth {
    Depth(Parser& parser, int& counter) : counter(counter) {
      if (++counter > kMaxDepth)
        parser.tokens_.Fail(Problems::kNowhere, fmt::format("expression recursion limit exceeded: {}", kMaxDepth));
    }
    ~Depth() { --counter; }
    int& counter;
  };

  Node* Invalid() { return ast_.New(Kind::kInvalid, tokens_.Current().position); }
  Node* Report(std::int32_t position, std::string text) {
    problems_.Add(position, std::move(text));
    return ast_.New(Kind::kInvalid, position);
  }
  // `levels`: 1 for operators and selections, which may be nested 250 times; 0 for calls without a target.
  Node* Call(std::int32_t position, std::string_view function, Node* target, std::vector<Node*> args, int levels = 1) {
    const std::int32_t depth = levels + std::max(target ? target->depth : 0, DepthOf(args));
    Node* out = ExpandMacro(ast_, macros_, position, function, target, args, problems_);
    if (!out) {
      out = ast_.New(Kind::kCall, position);
      out->name = function;
      out->target = target;
      out->args = std::move(args);
    }
    SetDepth(*out, depth);
    return out;
  }
  void SetDepth(Node& node, std::int32_t depth) {
    node.depth = depth;
    if (depth > kMaxDepth) tokens_.Fail(Problems::kNowhere, "max recursion depth exceeded");
  }
  static std::int32_t DepthOf(const std::vector<Node*>& nodes) {
    std::int32_t depth = 0;
    for (const Node* node : nodes) depth = std::max(depth, node->depth);
    return depth;
  }
  Node* Literal(std::int32_t position, Value value) {
    Node* out = ast_.New(Kind::kLiteral, position);
    out->literal = value;
    return out;
  }

  Node* Expression() {
    Depth depth(*this, expressions_);
    if (tokens_.Failed()) return Invalid();
    Node* condition = Or();
    if (!tokens_.Is("?")) return condition;
    const std::int32_t position = tokens_.Take().position;
    Node* yes = Or();
    tokens_.Expect(":");
    Node* no = Expression();
    return Call(position, "_?_:_", nullptr, {condition, yes, no});
  }

  // Chains of && and || become balanced trees, so that long ones are not deep.
  template <typename Next>
  Node* Logical(std::string_view symbol, const char* function, Next&& next) {
    std::vector<Node*> terms{next()};
    std::vector<std::int32_t> positions;
    while (tokens_.Is(symbol)) {
      positions.push_back(tokens_.Take().position);
      terms.push_back(next());
    }
    return positions.empty() ? terms[0] : BalancedTree(ast_, function, terms, positions, 0, positions.size() - 1);
  }
  Node* Or() {
    return Logical("||", "_||_", [&] { return And(); });
  }
  Node* And() {
    return Logical("&&", "_&&_", [&] { return Relation(); });
  }

  Node* Relation() {
    Depth depth(*this, relations_);
    Node* left = Sum();
    for (;;) {
      const auto operators = {"<", "<=", ">=", ">", "==", "!=", "in"};
      const auto found = std::find_if(operators.begin(), operators.end(), [&](const char* o) { return tokens_.Is(o); });
      if (found == operators.end()) return left;
      const Token& token = tokens_.Take();
      const std::string function = token.text == "in" ? "@in" : fmt::format("_{}_", token.text);
      Depth inner(*this, relations_);
      Node* right = Sum();
      left = Call(token.position, function, nullptr, {left, right});
    }
  }

  Node* Sum() {
    Depth depth(*this, calculations_);
    Node* left = Product();
    while (tokens_.Is("+") || tokens_.Is("-")) {
      const Token& token = tokens_.Take();
      Depth inner(*this, calculations_);
      Node* right = Product();
      left = Call(token.position, fmt::format("_{}_", token.text), nullptr, {left, right});
    }
    return left;
  }
  Node* Product() {
    Node* left = Unary();
    while (tokens_.Is("*") || tokens_.Is("/") || tokens_.Is("%")) {
      const Token& token = tokens_.Take();
      Depth inner(*this, calculations_);
      Node* right = Unary();
      left = Call(token.position, fmt::format("_{}_", token.text), nullptr, {left, right});
    }
    return left;
  }

  Node* Unary() {
    if (tokens_.Failed()) return Invalid();
    tokens_.ExpectStart();
    if (tokens_.Failed()) return Invalid();
    const bool negation = tokens_.Is("!");
    // A minus directly before a number belongs to the number, but only as the last of several.
    if (!negation && (!tokens_.Is("-") || IsNumber(tokens_.Peek()))) return Member();
    const std::int32_t position = tokens_.Current().position;
    const std::string symbol(tokens_.Current().text);
    std::size_t count = 0;
    while (tokens_.Is(symbol) && (negation || !IsNumber(tokens_.Peek()) || count > 0)) {
      tokens_.Take();
      ++count;
    }
    if (!TokenStream::IsStart(tokens_.Current()) || (!negation && tokens_.Is("!"))) return FailUnary(negation);
    Node* operand = Member();
    return count % 2 == 0 ? operand : Call(position, symbol + "_", nullptr, {operand}, 0);
  }
  Node* FailUnary(bool negation) {
    const Token& token = tokens_.Current();
    if (negation) {
      tokens_.ExpectStart();
      return tokens_.Failed() ? Invalid() : Member();
    } else {
      tokens_.Fail(token.position, fmt::format("Syntax error: no viable alternative at input '-{}'",
                                               token.kind == Token::Kind::kEnd ? "" : token.text));
    }
    return Invalid();
  }

  Node* Member() {
    Depth depth(*this, members_);
    Node* out = Primary();
    while (!tokens_.Failed()) {
      if (tokens_.Is(".")) {
        out = Select(out);
      } else if (tokens_.Is("[")) {
        out = Index(out);
      } else {
        break;
      }
    }
    return out;
  }

  Node* Select(Node* operand) {
    const Token& dot = tokens_.Take();
    const bool optional = tokens_.Accept("?");
    const Token& name = tokens_.Current();
    if (name.kind == Token::Kind::kEscapedIdentifier) {
      tokens_.Take();
      if (optional) return Report(name.position, "unsupported syntax: '`'");
      problems_.Add(name.position, "unsupported syntax: '`'");
      return SelectField(operand, dot.position, name.text);
    }
    if (name.kind != Token::Kind::kIdentifier) return FailSelect(optional);
    tokens_.Take();
    if (!optional && tokens_.Is("(")) {
      const std::int32_t open = tokens_.Take().position;
      return Call(open, name.text, operand, Arguments());
    }
    if (optional) {
      if (!macros_.optionals) return Report(dot.position, "unsupported syntax '.?'");
      Node* field = Literal(name.position, Value::String(ast_.Keep(std::string(name.text))));
      return Call(dot.position, "_?._", nullptr, {operand, field});
    }
    return SelectField(operand, dot.position, name.text);
  }
  Node* SelectField(Node* operand, std::int32_t position, std::string_view name) {
    Node* out = ast_.New(Kind::kSelect, position);
    out->name = name;
    out->args = {operand};
    SetDepth(*out, operand->depth + 1);
    return out;
  }
  Node* FailSelect(bool optional) {
    const Token& token = tokens_.Current();
    if (optional) {
      const std::int32_t position = token.position;
      tokens_.FailMismatch("{IDENTIFIER, ESC_IDENTIFIER}");
      problems_.Add(position, "unsupported ident kind");
    } else if (tokens_.Is("true") || tokens_.Is("false") || tokens_.Is("null")) {
      tokens_.FailMismatch("IDENTIFIER");
    } else {
      tokens_.Fail(token.position, fmt::format("Syntax error: no viable alternative at input '.{}'",
                                               token.kind == Token::Kind::kEnd ? "" : token.text));
    }
    return Invalid();
  }

  Node* Index(Node* operand) {
    const std::int32_t position = tokens_.Take().position;
    tokens_.ExpectStart({"'?'"});
    const bool optional = tokens_.Accept("?");
    Node* index = Expression();
    tokens_.Expect("]");
    if (optional && !macros_.optionals) return Report(position, "unsupported syntax '[?'");
    return Call(position, optional ? "_[?_]" : "_[_]", nullptr, {operand, index});
  }

  std::vector<Node*> Arguments() {
    std::vector<Node*> out;
    tokens_.ExpectStart({"')'"});
    if (tokens_.Accept(")")) return out;
    do {
      out.push_back(Expression());
    } while (tokens_.Accept(","));
    tokens_.Expect(")");
    return out;
  }

  Node* Primary() {
    const Token& token = tokens_.Current();
    switch (token.kind) {
      case Token::Kind::kIdentifier: return Identifier();
      case Token::Kind::kInt:
      case Token::Kind::kUint:
      case Token::Kind::kFloat: return NumberLiteral(ast_, tokens_.Take(), "", token.position, problems_);
      case Token::Kind::kString:
      case Token::Kind::kBytes: return TextLiteral(ast_, tokens_.Take(), problems_);
      default: break;
    }
    if (tokens_.Is("-")) {
      tokens_.Take();
      return NumberLiteral(ast_, tokens_.Take(), "-", token.position, problems_);
    }
    if (tokens_.Accept("true")) return Literal(token.position, Value::Bool(true));
    if (tokens_.Accept("false")) return Literal(token.position, Value::Bool(false));
    if (tokens_.Accept("null")) return Literal(token.position, Value());
    if (tokens_.Is("[")) return List();
    if (tokens_.Is("{")) return Map();
    if (tokens_.Is(".")) return Identifier();
    if (tokens_.Accept("(")) {
      Node* out = Expression();
      tokens_.Expect(")");
      return out;
    }
    tokens_.ExpectStart();
    return Invalid();
  }

  static bool IsNumber(const Token& token) {
    return token.kind == Token::Kind::kInt || token.kind == Token::Kind::kFloat;
  }

  // a, .a, a(…), or a.b.C{…}
  Node* Identifier() {
    const std::string dot = tokens_.Accept(".") ? "." : "";
    const Token& name = tokens_.Current();
    if (name.kind != Token::Kind::kIdentifier) {
      tokens_.Fail(name.position, fmt::format("Syntax error: no viable alternative at input '.{}'",
                                              name.kind == Token::Kind::kEnd ? "" : name.text));
      return Invalid();
    }
    if (const std::size_t size = tokens_.MessageNameSize()) return Message(dot, size);
    tokens_.Take();
    const bool reserved = IsReserved(name.text);
    const std::int32_t start = name.position - static_cast<std::int32_t>(dot.size());
    if (tokens_.Is("(")) {
      const std::int32_t open = tokens_.Take().position;
      std::vector<Node*> args = Arguments();
      if (reserved) return Report(start, fmt::format("reserved identifier: {}", name.text));
      return Call(open, dot + std::string(name.text), nullptr, std::move(args), 0);
    }
    if (reserved) return Report(start, fmt::format("reserved identifier: {}", name.text));
    Node* out = ast_.New(Kind::kIdent, name.position);
    out->name = dot + std::string(name.text);
    return out;
  }

  Node* Message(const std::string& dot, std::size_t size) {
    std::string name = dot;
    for (; size > 0; --size) name += tokens_.Take().text;
    Node* out = ast_.New(Kind::kStruct, tokens_.Current().position);
    out->name = std::move(name);
    tokens_.Take();
    while (!tokens_.Failed() && !tokens_.Is("}") && !tokens_.Is(",")) {
      const bool optional = tokens_.Accept("?");
      const Token& field = tokens_.Current();
      if (field.kind != Token::Kind::kIdentifier) {
        tokens_.FailMismatch("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}");
        break;
      }
      tokens_.Take();
      out->entry_positions.push_back(tokens_.Current().position);
      tokens_.Expect(":");
      out->fields.emplace_back(field.text);
      out->optional.push_back(optional);
      out->args.push_back(Expression());
      tokens_.ExpectEither("}", ",");
      if (!tokens_.Is(",") || TokenStream::IsPunctuation(tokens_.Peek(), "}")) break;
      tokens_.Take();
    }
    tokens_.Accept(",");
    tokens_.Expect("}");
    out->depth = DepthOf(out->args);
    return out;
  }

  // Entries up to `close`, with commas between them and perhaps after the last one.
  template <typename Entry>
  void Entries(std::string_view close, std::string_view quoted, Entry&& entry) {
    while (!tokens_.Failed() && !tokens_.Is(close) && !tokens_.Is(",")) {
      tokens_.ExpectStart({quoted, "','", "'?'"});
      const Token& mark = tokens_.Current();
      const bool optional = tokens_.Accept("?");
      entry(optional);
      if (optional && !macros_.optionals) Report(mark.position, "unsupported syntax '?'");
      tokens_.ExpectEither(close, ",");
      const Token& next = tokens_.Peek();
      if (!tokens_.Is(",") || (!TokenStream::IsStart(next) && !TokenStream::IsPunctuation(next, "?"))) break;
      tokens_.Take();
    }
    tokens_.Accept(",");
    tokens_.Expect(close);
  }

  Node* List() {
    Node* out = ast_.New(Kind::kList, tokens_.Take().position);
    Entries("]", "']'", [&](bool optional) {
      out->args.push_back(Expression());
      out->optional.push_back(optional);
    });
    out->depth = DepthOf(out->args);
    return out;
  }

  Node* Map() {
    Node* out = ast_.New(Kind::kMap, tokens_.Take().position);
    Entries("}", "'}'", [&](bool optional) {
      out->args.push_back(Expression());
      out->entry_positions.push_back(tokens_.Current().position);
      tokens_.Expect(":");
      out->args.push_back(Expression());
      out->optional.push_back(optional);
    });
    out->depth = DepthOf(out->args);
    return out;
  }

  Ast& ast_;
  TokenStream tokens_;
  const MacroSet& macros_;
  Problems& problems_;
  int expressions_ = 0, relations_ = 0, calculations_ = 0, members_ = 0;
};

}  // namespace

Ast Parse(std::string_view source, const MacroSet& macros, Problems& problems) {
  Ast ast;
  if (const std::size_t size = CodePoints(source); size > kMaxCodePoints) {
    problems.Add(Problems::kNowhere,
                 fmt::format("expression code point size exceeds limit: size: {}, limit {}", size, kMaxCodePoints));
    return ast;
  }
  std::vector<Token> tokens = Tokenize(source, problems);
  ast.root = Parser(ast, std::move(tokens), macros, problems).ParseAll();
  return ast;
}

}  // namespace apimesh::cel
