#include "lib/cel/plan/call.h"

#include <boost/container/small_vector.hpp>

#include "lib/cel/library/regex.h"
#include "lib/cel/library/type_values.h"
#include "lib/cel/value/collections.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Values = boost::container::small_vector<Value, 4>;

bool MatchesAll(const Overload& overload, std::span<const Value> args, Arena& arena) {
  if (overload.args.size() != args.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!MatchesAtRuntime(*overload.args[i], args[i], arena)) return false;
  }
  return true;
}

Value NoSuchOverloadFor(const Function& function, std::span<const Value> args, Arena& arena) {
  std::string types;
  for (const Value& arg : args) types += (types.empty() ? "" : ", ") + std::string(TypeOfValue(arg)->name);
  return Errorf(arena, "no such overload: {}({})", function.name, types);
}

}  // namespace

bool MatchesAtRuntime(const Type& type, const Value& value, Arena& arena) {
  if (type.Is(Type::Kind::kDyn) || type.Is(Type::Kind::kParameter)) return true;
  if (type.name != TypeOfValue(value)->name) return false;
  if (type.Is(Type::Kind::kList)) {
    return ListSize(value) == 0 || MatchesAtRuntime(*type.parameters[0], ListAt(value, 0, arena), arena);
  }
  if (!type.Is(Type::Kind::kMap)) return true;
  bool matches = true;
  ForEachEntry(value, arena, [&](const Value& key, const Value& entry) {
    matches = MatchesAtRuntime(*type.parameters[0], key, arena) && MatchesAtRuntime(*type.parameters[1], entry, arena);
    return false;
  });
  return matches;
}

CallStep::CallStep(const Function& function, const Overload* overload, std::vector<StepPtr> args)
    : function_(function),
      overload_(overload),
      args_(std::move(args)),
      cost_(CostOfCall(function.name, overload ? std::string_view(overload->id) : std::string_view())),
      stops_at_error_(args_.size() > 2 || (!overload && !function.body)) {}

Value CallStep::Eval(Context& context) const {
  Values args;
  const Value* error = nullptr;
  for (std::size_t i = 0; i < args_.size(); ++i) {
    args.push_back(args_[i]->Eval(context));
    if (args[i].IsError() && stops_at_error_ && i + 1 < args_.size()) return args[i];
  }
  for (const Value& arg : args) {
    if (arg.IsError() && !error) error = &arg;
  }
  if (context.exceeded) return Value::Error("operation cancelled: actual cost limit exceeded");
  const std::span<const Value> span(args.data(), args.size());
  const Value result = error ? *error : Invoke(span, context.arena);
  context.CountMemory(result);
  context.Charge(cost_(span, result, context.arena));
  return result;
}

Value CallStep::Invoke(std::span<const Value> args, Arena& arena) const {
  if (function_.body) return function_.body(args, arena);
  if (overload_) {
    if (!function_.unguarded && !MatchesAll(*overload_, args, arena)) return NoSuchOverloadFor(function_, args, arena);
    return overload_->body(args, arena);
  }
  for (const Overload& overload : function_.overloads) {
    if (overload.body && MatchesAll(overload, args, arena)) return overload.body(args, arena);
  }
  return NoSuchOverloadFor(function_, args, arena);
}

PatternStep::PatternStep(const Function& function, std::string_view overload, std::shared_ptr<const re2::RE2> pattern,
                         std::vector<StepPtr> args)
    : name_(function.name),
      pattern_(std::move(pattern)),
      args_(std::move(args)),
      cost_(CostOfCall(function.name, overload)) {}

Value PatternStep::Eval(Context& context) const {
  Values args;
  for (std::size_t i = 0; i < args_.size(); ++i) {
    args.push_back(args_[i]->Eval(context));
    if (args[i].IsError() && i + 1 < args_.size()) return args[i];
  }
  const std::span<const Value> span(args.data(), args.size());
  Value result = args.back();
  if (!result.IsError()) result = EvalPattern(name_, *pattern_, span, context.arena);
  context.CountMemory(result);
  context.Charge(cost_(span, result, context.arena));
  return result;
}

MembershipStep::MembershipStep(StepPtr item, Value list, Arena& arena) : item_(std::move(item)), list_(list) {
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    const Value value = ListAt(list, i, arena);
    if (value.Is(Kind::kString)) {
      texts_.insert(value.AsString());
    } else {
      only_texts_ = false;
    }
  }
}

Value MembershipStep::Eval(Context& context) const {
  const Value item = item_->Eval(context);
  if (item.IsError()) return item;
  if (only_texts_) return Value::Bool(item.Is(Kind::kString) && texts_.count(item.AsString()) > 0);
  const Value found = ListContains(list_, item, context.arena);
  return found.IsError() ? Value::Bool(false) : found;
}

}  // namespace apimesh::cel
