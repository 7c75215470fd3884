#include "lib/cel/plan/attribute.h"

#include <cmath>

#include "lib/cel/message/messages.h"
#include "lib/cel/types/type.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

/// What a selection finds: a value, nothing, or an error.
struct Found {
  enum class State { kValue, kAbsent, kError } state;
  Value value;

  static Found Of(Value value) { return {value.IsError() ? State::kError : State::kValue, value}; }
  static Found Absent() { return {State::kAbsent, {}}; }
};

Found FromList(const Value& list, const Value& key, bool presence, Arena& arena) {
  std::int64_t index = 0;
  if (key.Is(Kind::kInt)) {
    index = key.AsInt();
  } else if (key.Is(Kind::kUint) && key.AsUint() <= INT64_MAX) {
    index = key.AsInt();
  } else if (key.Is(Kind::kDouble)) {
    const double d = key.AsDouble();
    if (!(d > -9.2e18 && d < 9.2e18) || std::trunc(d) != d)
      return Found::Of(Errorf(arena, "unsupported index value {} in list", ToMessage(key, arena)));
    index = static_cast<std::int64_t>(d);
  } else if (key.Is(Kind::kUint)) {
    return Found::Of(Errorf(arena, "unsupported index value {} in list", key.AsUint()));
  } else {
    return Found::Of(Errorf(arena, "unsupported index type '{}' in list", key.Is(Kind::kBool) ? "bool" : "string"));
  }
  if (index >= 0 && static_cast<std::size_t>(index) < ListSize(list)) {
    // The list of a schema finds an error, so that the next selection fails.
    if (list.Is(Kind::kJsonList) && list.GetShape() && !key.Is(Kind::kInt))
      return {Found::State::kValue, Errorf(arena, "unsupported index: {}", ToMessage(key, arena))};
    return Found::Of(ListAt(list, static_cast<std::size_t>(index), arena));
  }
  if (presence) return Found::Absent();
  return Found::Of(Errorf(arena, "index out of bounds: {}", ToMessage(key, arena)));
}

Found FromObject(const Value& object, const Value& key, bool presence, Arena& arena) {
  if (const auto found = MapFind(Value::Map(object.AsMapData()), key, arena)) return Found::Of(*found);
  if (FindMessage(object.ObjectType()->name))
    return Found::Of(Errorf(arena, "no such field '{}'", ToMessage(key, arena)));
  return presence ? Found::Absent() : Found::Of(Errorf(arena, "no such key: {}", ToMessage(key, arena)));
}

Found Select(const Value& value, const Value& key, bool presence, Arena& arena) {
  if (value.IsMap()) {
    if (const auto found = MapFind(value, key, arena)) return Found::Of(*found);
  } else if (value.IsList()) {
    return FromList(value, key, presence, arena);
  } else if (value.Is(Kind::kObject)) {
    return FromObject(value, key, presence, arena);
  } else if (value.IsError()) {
    return Found::Of(value);
  }
  return presence ? Found::Absent() : Found::Of(Errorf(arena, "no such key: {}", ToMessage(key, arena)));
}

std::string_view GoTypeOf(const Opaque& opaque) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"kubernetes.Quantity", "*resource.Quantity"},
                                                                      {"kubernetes.URL", "*url.URL"},
                                                                      {"kubernetes.Semver", "semver.Version"},
                                                                      {"net.IP", "netip.Addr"},
                                                                      {"net.CIDR", "netip.Prefix"}};
  for (const auto& [name, type] : kTypes) {
    if (opaque.TypeName() == name) return type;
  }
  return "";
}

/// The value in an optional value that an attribute has. kube-apiserver converts it to a Go value and back, after which
/// an optional value is its own value, a type its name, and an object of a schema has no schema. Values of libraries
/// cannot be converted back.
Value ThroughGo(const Value& value, Arena& arena) {
  switch (value.GetKind()) {
    case Kind::kOptional: return value.AsOptional() ? ThroughGo(*value.AsOptional(), arena) : Value();
    case Kind::kType: return Value::String(value.AsType()->name);
    case Kind::kJsonMap: return value.GetShape() ? Value::FromJson(value.AsJsonObject()) : value;
    case Kind::kJsonList: return value.GetShape() ? Value::FromJson(value.AsJsonArray()) : value;
    case Kind::kOpaque: {
      const std::string_view type = GoTypeOf(value.AsOpaque());
      if (type.empty()) return value;
      return Errorf(arena, "unsupported conversion to ref.Val: ({}){}", type, value.AsOpaque().ToString());
    }
    default: return value;
  }
}

// The key of a selection, computed if it is no constant.
Value KeyOf(const Attribute::Qualifier& qualifier, Context& context) {
  Value key = qualifier.key;
  if (qualifier.attribute) {
    key = qualifier.attribute->Resolve(context);
  } else if (qualifier.step) {
    key = qualifier.step->Eval(context);
  } else {
    return key;
  }
  if (key.IsError() || CanQualify(key)) return key;
  return Value::Error(context.arena, InvalidQualifier(key));
}

}  // namespace

bool CanQualify(const Value& key) { return key.Is(Kind::kString) || key.IsNumber() || key.Is(Kind::kBool); }

std::string InvalidQualifier(const Value& key) {
  std::string_view name;
  switch (key.GetKind()) {
    case Kind::kNull: name = "types.Null"; break;
    case Kind::kBytes: name = "types.Bytes"; break;
    case Kind::kTimestamp: name = "types.Timestamp"; break;
    case Kind::kDuration: name = "types.Duration"; break;
    case Kind::kOptional: name = "*types.Optional"; break;
    case Kind::kType: name = "*types.Type"; break;
    case Kind::kList: name = "*types.baseList"; break;
    case Kind::kMap: name = "*types.baseMap"; break;
    case Kind::kJsonList: name = "[]interface {}"; break;
    case Kind::kJsonMap: name = "map[string]interface {}"; break;
    default: name = "object"; break;
  }
  return fmt::format("invalid qualifier type: {}", name);
}

Value Attribute::Apply(Context& context, Value value) const {
  if (value.IsError()) return value;
  bool optional = value.Is(Kind::kOptional);
  if (optional) {
    if (!value.AsOptional()) return value;
    value = ThroughGo(*value.AsOptional(), context.arena);
    if (qualifiers_.empty()) return Value::Some(context.arena, value);
  } else if (qualifiers_.empty()) {
    return value;
  }
  for (const Qualifier& qualifier : qualifiers_) {
    optional = optional || qualifier.optional;
    const Value key = KeyOf(qualifier, context);
    if (key.IsError()) {
      if (!optional) context.Charge(1);
      return key;
    }
    const bool presence = optional || qualifier.test_only;
    const Found found = Select(value, key, presence, context.arena);
    if (found.state == Found::State::kValue || !optional) context.Charge(1);
    if (found.state == Found::State::kError) return found.value;
    if (qualifier.test_only && !optional) return Value::Bool(found.state == Found::State::kValue);
    if (found.state == Found::State::kAbsent) return Value::None();
    value = found.value;
  }
  return optional && !value.IsError() ? Value::Some(context.arena, value) : value;
}

Value VariableAttribute::Resolve(Context& context) const {
  const Value& value = context.variables[index_];
  if (value.Is(Kind::kUnset)) return Errorf(context.arena, "no such attribute(s): {}", name_);
  return Apply(context, value);
}

Value LocalAttribute::Resolve(Context& context) const {
  Value& value = context.locals[slot_];
  if (value.Is(Kind::kUnset) && init_) value = init_->Eval(context);
  return Apply(context, value);
}

Value RelativeAttribute::Resolve(Context& context) const { return Apply(context, operand_->Eval(context)); }

Value ConditionalAttribute::Resolve(Context& context) const {
  const Value condition = condition_->Eval(context);
  if (!condition.Is(Kind::kBool)) return condition.IsError() ? condition : NoSuchOverload();
  // What is selected from the whole is selected from the branch.
  return Apply(context, (condition.AsBool() ? yes_ : no_)->Resolve(context));
}

}  // namespace apimesh::cel
