#include "lib/cel/program.h"

#include "lib/cel/check.h"
#include "lib/cel/evaluator.h"
#include "lib/cel/parser.h"

namespace apimesh::cel {
namespace {

constexpr std::size_t kMaxCodePoints = 100'000;

bool SelectsIn(const Node& node, std::string_view operand, std::string_view field) {
  const bool selects = node.kind == Node::Kind::kSelect || node.kind == Node::Kind::kHas;
  if (selects && node.name == field && node.children[0]->kind == Node::Kind::kVariable &&
      node.children[0]->name == operand)
    return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const NodePtr& child) { return SelectsIn(*child, operand, field); });
}

}  // namespace

Program::Compiled Program::Compile(std::string source, const std::map<std::string, Type>& variables) {
  if (CodePoints(source) > kMaxCodePoints) {
    return {std::nullopt,
            fmt::format("ERROR: <input>:1:1: expression code point size exceeds limit: size: {}, limit {}",
                        CodePoints(source), kMaxCodePoints)};
  }
  std::optional<Problem> problem;
  NodePtr root = Parse(source, problem);
  Program program;
  if (!problem) program.type_ = Check(*root, variables, problem);
  if (problem) return {std::nullopt, FormatProblem(source, *problem)};
  program.source_ = std::make_shared<const std::string>(std::move(source));
  program.root_ = std::shared_ptr<const Node>(std::move(root));
  return {std::move(program), ""};
}

Value Program::Evaluate(const std::map<std::string, Value>& variables, std::uint64_t cost_limit) const {
  return cel::Evaluate(*root_, variables, cost_limit);
}

bool Program::Selects(std::string_view operand, std::string_view field) const {
  return SelectsIn(*root_, operand, field);
}

}  // namespace apimesh::cel
