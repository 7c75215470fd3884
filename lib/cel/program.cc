#include "lib/cel/program.h"

#include <algorithm>

#include "lib/cel/check/checker.h"
#include "lib/cel/plan/planner.h"
#include "lib/cel/syntax/parser.h"

namespace apimesh::cel {

struct Program::Data {
  std::string source;
  std::vector<Variable> variables;
  std::shared_ptr<const TypeProvider> types;
  Ast ast;
  Arena constants;
  Plan plan;
};

namespace {

bool SelectsIn(const Node& node, std::string_view operand, std::string_view field) {
  const bool optional = node.kind == Node::Kind::kCall && node.name == "_?._";
  const bool selects = (node.kind == Node::Kind::kSelect && node.name == field) ||
                       (optional && node.args[1]->literal.AsString() == field);
  return selects && node.args[0]->kind == Node::Kind::kIdent && node.args[0]->name == operand;
}

}  // namespace

Program::Compiled Program::Compile(std::string source, const Scope& scope) {
  auto data = std::make_shared<Data>();
  data->source = std::move(source);
  data->variables = scope.variables;
  data->types = scope.types;
  Problems problems(data->source);
  data->ast = Parse(data->source, scope.declarations->macros, problems);
  if (problems.Empty()) Check(data->ast, *scope.declarations, data->variables, data->types.get(), problems);
  if (problems.Empty()) Validate(data->ast, *scope.declarations, problems);
  if (!problems.Empty()) return {std::nullopt, problems.ToString(), false};
  data->plan = MakePlan(data->ast, data->variables, data->types.get(), data->constants);
  if (!data->plan.error.empty()) return {std::nullopt, data->plan.error, true};
  Program program;
  program.data_ = std::move(data);
  return {std::move(program), "", false};
}

Value Program::Evaluate(std::span<const Value> variables, Evaluation& evaluation) const {
  Context context{evaluation.arena, variables, nullptr, evaluation.cost_limit, 0, false};
  context.locals = evaluation.arena.NewArray<Value>(data_->plan.locals);
  const Value out = data_->plan.root->Eval(context);
  evaluation.cost = context.cost;
  return context.exceeded ? Value::Error("operation cancelled: actual cost limit exceeded") : out;
}

const std::string& Program::Source() const { return data_->source; }
const TypeRef& Program::ResultType() const { return data_->ast.root->type; }

bool Program::Selects(std::string_view operand, std::string_view field) const {
  return std::any_of(data_->ast.nodes.begin(), data_->ast.nodes.end(),
                     [&](const Node& node) { return SelectsIn(node, operand, field); });
}

bool Program::Uses(std::string_view variable) const {
  return std::any_of(data_->ast.nodes.begin(), data_->ast.nodes.end(),
                     [&](const Node& node) { return node.kind == Node::Kind::kIdent && node.name == variable; });
}

CostRange Program::EstimateCost(const SizeEstimator* sizes) const { return cel::EstimateCost(data_->ast, sizes); }

}  // namespace apimesh::cel
