#include "lib/cel/value/time.h"

#include "lib/cel/library/library.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;

enum class Field { kYear, kMonth, kDayOfYear, kDayOfMonth, kDate, kDayOfWeek, kHours, kMinutes, kSeconds, kMillis };

template <Field kField>
Value Get(Args args, Arena& arena) {
  std::string error;
  const auto offset = args.size() == 2 ? ZoneOffset(args[1].AsString(), args[0].AsInt(), error) : 0;
  if (!offset) return Value::Error(arena, error);
  const CivilTime time = ToCivil(args[0].AsInt() + *offset);
  switch (kField) {
    case Field::kYear: return Value::Int(time.year);
    case Field::kMonth: return Value::Int(time.month - 1);
    case Field::kDayOfYear: return Value::Int(time.day_of_year);
    case Field::kDayOfMonth: return Value::Int(time.day - 1);
    case Field::kDate: return Value::Int(time.day);
    case Field::kDayOfWeek: return Value::Int(time.weekday);
    case Field::kHours: return Value::Int(time.hour);
    case Field::kMinutes: return Value::Int(time.minute);
    case Field::kSeconds: return Value::Int(time.second);
    case Field::kMillis: return Value::Int(args[0].Nanos() / 1'000'000);
  }
  return NoSuchOverload();
}

template <std::int64_t kUnit>
Value InUnits(Args args, Arena&) {
  return Value::Int(args[0].AsInt() / kUnit);
}

template <Field kField>
void AddField(Declarations& out, const char* function, const std::string& id) {
  out.Add(function, {"timestamp_to_" + id, true, {Type::Timestamp()}, Type::Int(), Get<kField>});
  out.Add(function,
          {"timestamp_to_" + id + "_with_tz", true, {Type::Timestamp(), Type::String()}, Type::Int(), Get<kField>});
}

}  // namespace

void AddTime(Declarations& out) {
  AddField<Field::kYear>(out, "getFullYear", "year");
  AddField<Field::kMonth>(out, "getMonth", "month");
  AddField<Field::kDayOfYear>(out, "getDayOfYear", "day_of_year");
  AddField<Field::kDayOfMonth>(out, "getDayOfMonth", "day_of_month");
  AddField<Field::kDate>(out, "getDate", "day_of_month_1_based");
  AddField<Field::kDayOfWeek>(out, "getDayOfWeek", "day_of_week");
  AddField<Field::kHours>(out, "getHours", "hours");
  AddField<Field::kMinutes>(out, "getMinutes", "minutes");
  AddField<Field::kSeconds>(out, "getSeconds", "seconds");
  AddField<Field::kMillis>(out, "getMilliseconds", "milliseconds");
  const std::vector<TypeRef> duration = {Type::Duration()};
  out.Add("getHours", {"duration_to_hours", true, duration, Type::Int(), InUnits<3'600'000'000'000>});
  out.Add("getMinutes", {"duration_to_minutes", true, duration, Type::Int(), InUnits<60'000'000'000>});
  out.Add("getSeconds", {"duration_to_seconds", true, duration, Type::Int(), InUnits<1'000'000'000>});
  out.Add("getMilliseconds", {"duration_to_milliseconds", true, duration, Type::Int(), InUnits<1'000'000>});
}

}  // namespace apimesh::cel
