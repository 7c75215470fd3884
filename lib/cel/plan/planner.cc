#include "lib/cel/plan/planner.h"

#include <algorithm>

#include <re2/re2.h>

#include "lib/cel/check/declarations.h"
#include "lib/cel/library/regex.h"
#include "lib/cel/message/messages.h"
#include "lib/cel/plan/aggregate.h"
#include "lib/cel/plan/attribute.h"
#include "lib/cel/plan/call.h"
#include "lib/cel/plan/fold.h"
#include "lib/cel/plan/logic.h"
#include "lib/cel/value/collections.h"

namespace apimesh::cel {
namespace {

using AttributePtr = std::shared_ptr<Attribute>;

bool IsConversion(std::string_view function) {
  constexpr std::string_view kConversions[] = {"bool", "bytes",  "double",    "duration", "dyn",
                                               "int",  "string", "timestamp", "type",     "uint"};
  return std::find(std::begin(kConversions), std::end(kConversions), function) != std::end(kConversions);
}

class Planner {
 public:
  Planner(std::span<const Variable> variables, const TypeProvider* types, Arena& constants)
      : variables_(variables), types_(types), constants_(constants) {}

  Plan Make(const Ast& ast) {
    Plan out;
    out.root = Step_(*ast.root);
    out.locals = max_locals_;
    out.error = std::move(error_);
    return out;
  }

 private:
  struct Local {
    std::string_view name;
    std::size_t slot;
    StepPtr init;  // of a variable that is computed when it is first used
  };

  StepPtr Fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
    return std::make_shared<ConstantStep>(Value());
  }
  StepPtr Constant(Value value) { return std::make_shared<ConstantStep>(value); }

  StepPtr Step_(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kLiteral: return Constant(node.literal);
      case Node::Kind::kIdent: return Ident(node);
      case Node::Kind::kSelect: return Select(node);
      case Node::Kind::kCall: return Call(node);
      case Node::Kind::kList:
      case Node::Kind::kMap: return Aggregate(node);
      case Node::Kind::kStruct:
        if (const Message* message = FindMessage(node.name))
          return std::make_shared<MessageStep>(*message, node.fields, Steps(node), node.optional);
        return std::make_shared<StructStep>(node.type.get(), types_ && types_->CanConstruct(node.name), node.fields,
                                            Steps(node), node.optional);
      case Node::Kind::kComprehension: return Fold(node);
      case Node::Kind::kInvalid: break;
    }
    return Fail("unsupported expression");
  }

  std::vector<StepPtr> Steps(const Node& node) {
    std::vector<StepPtr> out;
    if (node.target) out.push_back(Step_(*node.target));
    for (const Node* arg : node.args) out.push_back(Step_(*arg));
    return out;
  }

  StepPtr Ident(const Node& node) {
    if (node.type_value) {
      const Message* message = FindMessage(node.name);
      if (message && !message->denotes_type) return Fail("reference to undefined type: " + node.name);
      return Constant(Value::OfType(node.type_value));
    }
    if (node.name == kNullValue) return Constant(Value::Int(0));
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name == node.name)
        return std::make_shared<LocalAttribute>(local->slot, local->init ? &local->init : nullptr);
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].name == node.name) return std::make_shared<VariableAttribute>(i, node.name);
    }
    return Fail("no such attribute(s): " + node.name);
  }

  // The attribute to which a selection is added.
  AttributePtr AttributeOf(const StepPtr& step) {
    if (const auto* attribute = dynamic_cast<const Attribute*>(step.get())) return attribute->Copy();
    return std::make_shared<RelativeAttribute>(step);
  }
  std::shared_ptr<const Attribute> BranchOf(const StepPtr& step) {
    if (auto attribute = std::dynamic_pointer_cast<const Attribute>(step)) return attribute;
    return std::make_shared<RelativeAttribute>(step);
  }

  StepPtr Select(const Node& node) {
    AttributePtr out = AttributeOf(Step_(*node.args[0]));
    Attribute::Qualifier qualifier;
    qualifier.key = Value::String(node.name);
    qualifier.test_only = node.test_only;
    out->Add(std::move(qualifier));
    if (node.test_only) out->SetTestOnly();
    return out;
  }

  StepPtr Index(const std::vector<StepPtr>& args, bool optional) {
    AttributePtr out = AttributeOf(args[0]);
    Attribute::Qualifier qualifier;
    qualifier.optional = optional;
    if (const Value* key = args[1]->Constant()) {
      if (!CanQualify(*key)) return Fail(InvalidQualifier(*key));
      qualifier.key = *key;
    } else if (auto attribute = std::dynamic_pointer_cast<const Attribute>(args[1])) {
      qualifier.attribute = std::move(attribute);
    } else {
      qualifier.step = args[1];
    }
    out->Add(std::move(qualifier));
    return out;
  }

  StepPtr Call(const Node& node) {
    if (StepPtr in_place = InPlace(node)) return in_place;
    std::vector<StepPtr> args = Steps(node);
    const std::string& name = node.function->name;
    if (name == "_&&_" || name == "_||_") return std::make_shared<LogicStep>(name == "_||_", args[0], args[1]);
    if (name == "_==_" || name == "_!=_") return std::make_shared<EqualityStep>(name == "_!=_", args[0], args[1]);
    if (name == "_?_:_") return std::make_shared<ConditionalAttribute>(args[0], BranchOf(args[1]), BranchOf(args[2]));
    if (name == "_[_]") return Index(args, false);
    if (name == "_?._" || name == "_[?_]") return Index(args, true);
    if (name == "@not_strictly_false") return std::make_shared<NotStrictlyFalseStep>(args[0]);
    const Overload* overload = node.overloads.size() == 1 ? node.overloads[0] : nullptr;
    if (name == "or" || name == "orValue") return std::make_shared<OptionalOrStep>(name == "orValue", args[0], args[1]);
    if (overload && overload->id == "in_list" && args[1]->Constant()) {
      if (StepPtr membership = Membership(args)) return membership;
    }
    if ((name == "matches" || name == "find" || name == "findAll") && args[1]->Constant())
      return Pattern(*node.function, overload, args);
    const bool fold = args.size() == 1 && args[0]->Constant() && IsConversion(name);
    auto call = std::make_shared<CallStep>(*node.function, overload, std::move(args));
    return fold ? Computed(*call, true) : call;
  }

  // The value of a step that needs no variables.
  StepPtr Computed(const Step& step, bool fails) {
    Context context{constants_, {}, nullptr, UINT64_MAX, 0, false};
    const Value value = step.Eval(context);
    if (fails && value.IsError()) return Fail(std::string(value.AsString()));
    return Constant(value);
  }

  StepPtr Membership(const std::vector<StepPtr>& args) {
    const Value list = *args[1]->Constant();
    if (!list.IsList()) return nullptr;
    if (ListSize(list) == 0) return Constant(Value::Bool(false));
    for (std::size_t i = 0; i < ListSize(list); ++i) {
      const Value item = ListAt(list, i, constants_);
      if (!item.Is(Value::Kind::kBool) && !item.Is(Value::Kind::kString) && !item.IsNumber()) return nullptr;
    }
    return std::make_shared<MembershipStep>(args[0], list, constants_);
  }

  StepPtr Pattern(const Function& function, const Overload* overload, std::vector<StepPtr>& args) {
    if (!args[1]->Constant()->Is(Value::Kind::kString)) return std::make_shared<CallStep>(function, overload, args);
    std::string error;
    auto pattern = CompilePattern(args[1]->Constant()->AsString(), error);
    if (!pattern) return Fail(std::move(error));
    return std::make_shared<PatternStep>(function, overload ? std::string_view(overload->id) : "", std::move(pattern),
                                         std::move(args));
  }

  StepPtr Aggregate(const Node& node) {
    std::vector<StepPtr> items = Steps(node);
    const bool constant = std::all_of(items.begin(), items.end(), [](const StepPtr& i) { return i->Constant(); });
    StepPtr out;
    if (node.kind == Node::Kind::kList) {
      out = std::make_shared<ListStep>(std::move(items), node.optional);
    } else {
      out = std::make_shared<MapStep>(std::move(items), node.optional);
    }
    return constant ? Computed(*out, false) : out;
  }

  // A step that extends the list or map of the innermost comprehension; null for other calls.
  StepPtr InPlace(const Node& node) {
    const bool add = node.function->name == "_+_", insert = node.function->name == "cel.@mapInsert";
    if (!(add || insert) || node.args[0]->kind != Node::Kind::kIdent || node.args[0]->name != "@result") return nullptr;
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name != "@result") continue;
      if (!dynamic_cast<const EmptyStep*>(local->init.get())) return nullptr;
      const std::size_t slot = local->slot;
      StepPtr first = Step_(*node.args[1]);
      if (add) return std::make_shared<AppendStep>(slot, std::move(first));
      return std::make_shared<InsertStep>(slot, std::move(first),
                                          node.args.size() == 3 ? Step_(*node.args[2]) : nullptr);
    }
    return nullptr;
  }

  std::size_t Declare(std::string_view name, StepPtr init) {
    const std::size_t slot = locals_.size();
    locals_.push_back({name, slot, std::move(init)});
    max_locals_ = std::max(max_locals_, locals_.size());
    return slot;
  }

  StepPtr Fold(const Node& node) {
    FoldStep::Parts parts;
    const Node& init = *node.args[Node::kInit];
    const bool empty = (init.kind == Node::Kind::kList || init.kind == Node::Kind::kMap) && init.args.empty() &&
                       node.accumulator == "@result";
    parts.init = empty ? std::make_shared<EmptyStep>(init.kind == Node::Kind::kMap) : Step_(init);
    parts.range = Step_(*node.args[Node::kRange]);
    const std::size_t outer = locals_.size();
    parts.accumulator = Declare(node.accumulator, parts.init);
    parts.variable = Declare(node.variable, nullptr);
    parts.two_variables = !node.variable2.empty();
    if (parts.two_variables) parts.variable2 = Declare(node.variable2, nullptr);
    parts.condition = Step_(*node.args[Node::kCondition]);
    parts.step = Step_(*node.args[Node::kStep]);
    for (std::size_t i = outer + 1; i < locals_.size(); ++i) locals_[i].name = "#hidden";
    parts.result = Step_(*node.args[Node::kResult]);
    locals_.resize(outer);
    return std::make_shared<FoldStep>(std::move(parts));
  }

  std::span<const Variable> variables_;
  const TypeProvider* types_;
  Arena& constants_;
  std::vector<Local> locals_;
  std::size_t max_locals_ = 0;
  std::string error_;
};

}  // namespace

Plan MakePlan(const Ast& ast, std::span<const Variable> variables, const TypeProvider* types, Arena& constants) {
  return Planner(variables, types, constants).Make(ast);
}

}  // namespace apimesh::cel
