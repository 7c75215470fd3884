#include "lib/cel/syntax/literals.h"

#include <charconv>
#include <cmath>

#include "lib/cel/syntax/unescape.h"

namespace apimesh::cel {
namespace {

Node* Invalid(Ast& ast, std::int32_t position, std::string text, Problems& problems) {
  problems.Add(position, std::move(text));
  return ast.New(Node::Kind::kInvalid, position);
}

Node* Literal(Ast& ast, std::int32_t position, Value value) {
  Node* out = ast.New(Node::Kind::kLiteral, position);
  out->literal = value;
  return out;
}

}  // namespace

Node* NumberLiteral(Ast& ast, const Token& token, std::string_view sign, std::int32_t position, Problems& problems) {
  std::string text = std::string(sign) + std::string(token.text);
  if (token.kind == Token::Kind::kFloat) {
    const double value = std::strtod(text.c_str(), nullptr);
    if (std::isinf(value)) return Invalid(ast, position, "invalid double literal", problems);
    return Literal(ast, position, Value::Double(value));
  }
  const bool unsigned_number = token.kind == Token::Kind::kUint;
  if (unsigned_number) text.pop_back();
  const std::size_t hex = text.find("0x");
  if (hex != std::string::npos) text.erase(hex, 2);
  const int base = hex == std::string::npos ? 10 : 16;
  const char *begin = text.data(), *end = begin + text.size();
  if (unsigned_number) {
    std::uint64_t value = 0;
    if (std::from_chars(begin, end, value, base).ec != std::errc())
      return Invalid(ast, position, "invalid uint literal", problems);
    return Literal(ast, position, Value::Uint(value));
  }
  std::int64_t value = 0;
  if (std::from_chars(begin, end, value, base).ec != std::errc())
    return Invalid(ast, position, "invalid int literal", problems);
  return Literal(ast, position, Value::Int(value));
}

Node* TextLiteral(Ast& ast, const Token& token, Problems& problems) {
  const bool bytes = token.kind == Token::Kind::kBytes;
  std::string error;
  auto text = Unescape(token.text.substr(bytes ? 1 : 0), bytes, error);
  if (!text) return Invalid(ast, token.position, std::move(error), problems);
  const std::string_view kept = ast.Keep(*std::move(text));
  return Literal(ast, token.position, bytes ? Value::Bytes(kept) : Value::String(kept));
}

}  // namespace apimesh::cel
