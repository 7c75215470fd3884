#include <ctime>

#include "lib/cel/functions.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Arguments = std::span<const Value>;
constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t FloorSeconds(std::int64_t nanoseconds) {
  return nanoseconds / kSecond - (nanoseconds % kSecond < 0 ? 1 : 0);
}

// In UTC; other time zones are not known here.
template <int std::tm::*Field, int Offset>
Value Calendar(Arguments a) {
  if (!a[0].Is(Kind::kTimestamp)) return NoOverload();
  const std::time_t seconds = FloorSeconds(a[0].AsInt());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return Value::Int(parts.*Field + Offset);
}

// Of a timestamp the part within the next larger unit, of a duration all of it.
template <int std::tm::*Field, std::int64_t Unit>
Value Part(Arguments a) {
  if (a[0].Is(Kind::kDuration)) return Value::Int(a[0].AsInt() / Unit);
  return Calendar<Field, 0>(a);
}

Value Milliseconds(Arguments a) {
  if (a[0].Is(Kind::kDuration)) return Value::Int(a[0].AsInt() / 1'000'000);
  if (!a[0].Is(Kind::kTimestamp)) return NoOverload();
  return Value::Int((a[0].AsInt() - FloorSeconds(a[0].AsInt()) * kSecond) / 1'000'000);
}

}  // namespace

std::vector<NamedFunction> TimeMethods() {
  using Result = Type::Kind;
  const auto method = [](const char* name, Function::Body body) {
    return NamedFunction{name, {body, 1, 1, Result::kInt}};
  };
  return {method("getFullYear", &Calendar<&std::tm::tm_year, 1900>),
          method("getMonth", &Calendar<&std::tm::tm_mon, 0>),
          method("getDayOfMonth", &Calendar<&std::tm::tm_mday, -1>),
          method("getDate", &Calendar<&std::tm::tm_mday, 0>),
          method("getDayOfWeek", &Calendar<&std::tm::tm_wday, 0>),
          method("getDayOfYear", &Calendar<&std::tm::tm_yday, 0>),
          method("getHours", &Part<&std::tm::tm_hour, 3600 * kSecond>),
          method("getMinutes", &Part<&std::tm::tm_min, 60 * kSecond>),
          method("getSeconds", &Part<&std::tm::tm_sec, kSecond>),
          method("getMilliseconds", &Milliseconds)};
}

}  // namespace apimesh::cel
