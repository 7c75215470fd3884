#include "lib/cel/plan/fold.h"

#include "lib/cel/message/messages.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

std::string_view GoTypeOf(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kNull: return "types.Null";
    case Kind::kBool: return "types.Bool";
    case Kind::kInt: return "types.Int";
    case Kind::kUint: return "types.Uint";
    case Kind::kDouble: return "types.Double";
    case Kind::kString: return "types.String";
    case Kind::kBytes: return "types.Bytes";
    case Kind::kTimestamp: return "types.Timestamp";
    case Kind::kDuration: return "types.Duration";
    case Kind::kOptional: return "*types.Optional";
    case Kind::kType: return "*types.Type";
    case Kind::kObject: return FindMessage(value.ObjectType()->name) ? "*types.protoObj" : "object";
    default: return "object";
  }
}

}  // namespace

// Returns whether there may be a next iteration.
bool FoldStep::Next(Context& context, const Value& first, const Value& second) const {
  context.locals[parts_.variable] = first;
  if (parts_.two_variables) context.locals[parts_.variable2] = second;
  if (parts_.condition->Eval(context).IsFalse() || context.exceeded) return false;
  context.locals[parts_.accumulator] = parts_.step->Eval(context);
  return !context.exceeded;
}

Value FoldStep::Run(Context& context, const Value& range) const {
  if (range.IsList()) {
    for (std::size_t i = 0; i < ListSize(range); ++i) {
      const Value item = ListAt(range, i, context.arena);
      const bool more = parts_.two_variables ? Next(context, Value::Int(static_cast<std::int64_t>(i)), item)
                                             : Next(context, item, Value());
      if (!more) break;
    }
    return parts_.result->Eval(context);
  }
  if (range.IsMap()) {
    ForEachEntry(range, context.arena, [&](const Value& key, const Value& value) { return Next(context, key, value); });
    return parts_.result->Eval(context);
  }
  const auto text =
      parts_.two_variables ? "unsupported comprehension range type: {}" : "got '{}', expected iterable type";
  return Value::Error(context.arena, fmt::format(fmt::runtime(text), GoTypeOf(range)));
}

Value FoldStep::Eval(Context& context) const {
  const Value range = parts_.range->Eval(context);
  if (range.IsError()) return range;
  context.locals[parts_.accumulator] = Value::Unset();  // computed when it is first used
  return Run(context, range);
}

Value EmptyStep::Eval(Context& context) const {
  return map_ ? MapBuilder(context.arena).Build() : ListBuilder(context.arena).Build();
}

Value AppendStep::Eval(Context& context) const {
  Value& accumulator = context.locals[accumulator_];
  if (accumulator.Is(Kind::kUnset)) accumulator = ListBuilder(context.arena).Build();
  const Value list = accumulator;
  const Value items = items_->Eval(context);
  context.Charge(2);  // the accumulator and the addition
  if (list.IsError()) return list;
  if (items.IsError()) return items;
  if (!items.IsList() || !list.Is(Kind::kList)) return NoSuchOverload();
  ListBuilder builder(context.arena, const_cast<ListData*>(list.AsListData()));
  for (std::size_t i = 0; i < ListSize(items); ++i) builder.Add(ListAt(items, i, context.arena));
  return list;
}

Value InsertStep::Eval(Context& context) const {
  Value& accumulator = context.locals[accumulator_];
  if (accumulator.Is(Kind::kUnset)) accumulator = MapBuilder(context.arena).Build();
  const Value map = accumulator;
  context.Charge(1);  // the accumulator
  // kube-apiserver evaluates both operands of a call with two, and of one with more until the first error.
  if (map.IsError() && value_) return map;
  const Value key = key_->Eval(context);
  if (key.IsError() && value_) return key;
  const Value value = value_ ? value_->Eval(context) : Value();
  context.Charge(1);
  if (map.IsError()) return map;
  if (key.IsError()) return key;
  if (value.IsError()) return value;
  MapBuilder builder(context.arena, const_cast<MapData*>(map.AsMapData()));
  const auto insert = [&](const Value& k, const Value& v) {
    if (const Value invalid = InvalidKey(k, context.arena); invalid.IsError()) return invalid;
    if (builder.Insert(k, v)) return Value();
    return Errorf(context.arena, "insert failed: key {} already exists", ToMessage(k, context.arena));
  };
  if (value_) {
    const Value failed = insert(key, value);
    return failed.IsError() ? failed : map;
  }
  if (!key.IsMap()) return NoSuchOverload();
  Value failed;
  ForEachEntry(key, context.arena, [&](const Value& k, const Value& v) {
    failed = insert(k, v);
    return !failed.IsError();
  });
  return failed.IsError() ? failed : map;
}

}  // namespace apimesh::cel
