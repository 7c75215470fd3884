#include "lib/cel/plan/aggregate.h"

#include "lib/cel/cost/sizes.h"
#include "lib/cel/message/construct.h"
#include "lib/cel/types/type.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

Value NotOptional(std::string_view key, const Value& value, Arena& arena) {
  return Errorf(arena, "cannot initialize optional entry '{}' from non-optional value {}", key,
                ToMessage(value, arena));
}

}  // namespace

Value ListStep::Eval(Context& context) const {
  ListBuilder list(context.arena, items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Value item = items_[i]->Eval(context);
    if (!item.IsError() && optional_[i]) {
      if (!item.Is(Kind::kOptional)) {
        item = Errorf(context.arena, "cannot initialize optional list element from non-optional value {}",
                      ToMessage(item, context.arena));
      } else if (!item.AsOptional()) {
        continue;
      } else {
        item = *item.AsOptional();
      }
    }
    if (item.IsError()) {
      context.Charge(kListCost);
      return item;
    }
    list.Add(item);
  }
  context.Charge(kListCost);
  return list.Build();
}

Value MapStep::Eval(Context& context) const {
  MapBuilder map(context.arena, items_.size() / 2);
  context.Charge(kMapCost);
  for (std::size_t i = 0; i < items_.size(); i += 2) {
    const Value key = items_[i]->Eval(context);
    if (key.IsError()) return key;
    Value value = items_[i + 1]->Eval(context);
    if (value.IsError()) return value;
    if (optional_[i / 2]) {
      if (!value.Is(Kind::kOptional)) return NotOptional(ToMessage(key, context.arena), value, context.arena);
      if (!value.AsOptional()) {
        if (const Value invalid = InvalidKey(key, context.arena); invalid.IsError()) return invalid;
        map.Erase(key);
        continue;
      }
      value = *value.AsOptional();
    }
    if (const Value invalid = InvalidKey(key, context.arena); invalid.IsError()) return invalid;
    map.Set(key, value);
  }
  return map.Build();
}

Value StructStep::Eval(Context& context) const {
  MapBuilder fields(context.arena, values_.size());
  context.Charge(kStructCost);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value name = Value::String(fields_[i]);
    Value value = values_[i]->Eval(context);
    if (value.IsError()) return value;
    if (optional_[i]) {
      if (!value.Is(Kind::kOptional)) return NotOptional(fields_[i], value, context.arena);
      if (!value.AsOptional()) {
        fields.Erase(name);
        continue;
      }
      value = *value.AsOptional();
    }
    fields.Set(name, value);
  }
  if (!known_) return Errorf(context.arena, "unknown type '{}'", type_->name);
  return Value::Object(fields.Data(), type_);
}

MessageStep::MessageStep(const Message& message, const std::vector<std::string>& fields, std::vector<StepPtr> values,
                         std::vector<bool> optional)
    : message_(message), values_(std::move(values)), optional_(std::move(optional)) {
  for (const std::string& field : fields) fields_.push_back(message.FindField(field));
}

Value MessageStep::Eval(Context& context) const {
  context.Charge(kStructCost);
  std::vector<std::pair<const MessageField*, Value>> fields;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    Value value = values_[i]->Eval(context);
    if (value.IsError()) return value;
    if (optional_[i]) {
      if (!value.Is(Kind::kOptional)) return NotOptional(fields_[i]->name, value, context.arena);
      if (!value.AsOptional()) {
        std::erase_if(fields, [&](const auto& field) { return field.first == fields_[i]; });
        continue;
      }
      value = *value.AsOptional();
    }
    fields.emplace_back(fields_[i], value);
  }
  return Construct(message_, fields, context.arena);
}

}  // namespace apimesh::cel
