#include "lib/cel/library/arithmetic.h"

#include "lib/cel/value/collections.h"
#include "lib/cel/value/time.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;
constexpr std::int64_t kSecond = 1'000'000'000;

Value IntOverflow() { return Value::Error("integer overflow"); }
Value UintOverflow() { return Value::Error("unsigned integer overflow"); }

Value AddInts(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? IntOverflow() : Value::Int(out);
}

Value AddDurations(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? IntOverflow() : Value::Duration(out);
}

Value AddToTimestamp(const Value& timestamp, std::int64_t duration) {
  std::int64_t seconds = timestamp.AsInt() + duration / kSecond;
  std::int64_t nanos = timestamp.Nanos() + duration % kSecond;
  seconds += nanos / kSecond;
  nanos %= kSecond;
  if (nanos < 0) {
    nanos += kSecond;
    --seconds;
  }
  if (seconds < kMinUnixTime || seconds > kMaxUnixTime) return Value::Error("timestamp overflow");
  return Value::Timestamp(seconds, static_cast<std::int32_t>(nanos), timestamp.Offset());
}

Value SubtractTimestamps(const Value& a, const Value& b) {
  std::int64_t seconds = 0, out = 0;
  if (__builtin_mul_overflow(a.AsInt() - b.AsInt(), kSecond, &seconds) ||
      __builtin_add_overflow(seconds, std::int64_t{a.Nanos()} - b.Nanos(), &out))
    return IntOverflow();
  return Value::Duration(out);
}

Value JoinTexts(const Value& a, const Value& b, Arena& arena) {
  const std::string_view left = a.AsString(), right = b.AsString();
  char* out = arena.NewChars(left.size() + right.size());
  if (!left.empty()) std::memcpy(out, left.data(), left.size());
  if (!right.empty()) std::memcpy(out + left.size(), right.data(), right.size());
  const std::string_view text(out, left.size() + right.size());
  return a.Is(Kind::kString) ? Value::String(text) : Value::Bytes(text);
}

}  // namespace

Value Unsupported(const Value& value, std::string_view function, Arena& arena) {
  // Texts, durations and timestamps have methods, so that a missing operator is reported as a missing method.
  if (value.Is(Kind::kString) || value.Is(Kind::kDuration) || value.Is(Kind::kTimestamp)) return NoSuchOverload();
  return Errorf(arena, "no such overload: {}", function);
}

Value AddValues(Args args, Arena& arena) {
  const Value &a = args[0], &b = args[1];
  if (a.Is(Kind::kDuration) && b.Is(Kind::kTimestamp)) return AddToTimestamp(b, a.AsInt());
  if (a.Is(Kind::kTimestamp) && b.Is(Kind::kDuration)) return AddToTimestamp(a, b.AsInt());
  if (a.IsList()) return b.IsList() ? Concat(a, b, arena) : NoSuchOverload();
  switch (a.GetKind()) {
    case Kind::kInt: return b.Is(Kind::kInt) ? AddInts(a.AsInt(), b.AsInt()) : NoSuchOverload();
    case Kind::kUint: {
      std::uint64_t out = 0;
      if (!b.Is(Kind::kUint)) return NoSuchOverload();
      return __builtin_add_overflow(a.AsUint(), b.AsUint(), &out) ? UintOverflow() : Value::Uint(out);
    }
    case Kind::kDouble: return b.Is(Kind::kDouble) ? Value::Double(a.AsDouble() + b.AsDouble()) : NoSuchOverload();
    case Kind::kString:
    case Kind::kBytes: return a.GetKind() == b.GetKind() ? JoinTexts(a, b, arena) : NoSuchOverload();
    case Kind::kDuration: return b.Is(Kind::kDuration) ? AddDurations(a.AsInt(), b.AsInt()) : NoSuchOverload();
    case Kind::kTimestamp: return NoSuchOverload();
    default: return Unsupported(a, "_+_", arena);
  }
}

Value SubtractValues(Args args, Arena& arena) {
  const Value &a = args[0], &b = args[1];
  switch (a.GetKind()) {
    case Kind::kInt: {
      std::int64_t out = 0;
      if (!b.Is(Kind::kInt)) return NoSuchOverload();
      return __builtin_sub_overflow(a.AsInt(), b.AsInt(), &out) ? IntOverflow() : Value::Int(out);
    }
    case Kind::kUint:
      if (!b.Is(Kind::kUint)) return NoSuchOverload();
      return b.AsUint() > a.AsUint() ? UintOverflow() : Value::Uint(a.AsUint() - b.AsUint());
    case Kind::kDouble: return b.Is(Kind::kDouble) ? Value::Double(a.AsDouble() - b.AsDouble()) : NoSuchOverload();
    case Kind::kDuration: {
      std::int64_t out = 0;
      if (!b.Is(Kind::kDuration)) return NoSuchOverload();
      return __builtin_sub_overflow(a.AsInt(), b.AsInt(), &out) ? IntOverflow() : Value::Duration(out);
    }
    case Kind::kTimestamp:
      if (b.Is(Kind::kTimestamp)) return SubtractTimestamps(a, b);
      if (!b.Is(Kind::kDuration)) return NoSuchOverload();
      return b.AsInt() == INT64_MIN ? IntOverflow() : AddToTimestamp(a, -b.AsInt());
    default: return Unsupported(a, "_-_", arena);
  }
}

Value MultiplyValues(Args args, Arena& arena) {
  const Value &a = args[0], &b = args[1];
  if (!a.IsNumber()) return Unsupported(a, "_*_", arena);
  if (a.GetKind() != b.GetKind()) return NoSuchOverload();
  if (a.Is(Kind::kDouble)) return Value::Double(a.AsDouble() * b.AsDouble());
  if (a.Is(Kind::kUint)) {
    std::uint64_t out = 0;
    return __builtin_mul_overflow(a.AsUint(), b.AsUint(), &out) ? UintOverflow() : Value::Uint(out);
  }
  std::int64_t out = 0;
  return __builtin_mul_overflow(a.AsInt(), b.AsInt(), &out) ? IntOverflow() : Value::Int(out);
}

Value DivideValues(Args args, Arena& arena) {
  const Value &a = args[0], &b = args[1];
  if (!a.IsNumber()) return Unsupported(a, "_/_", arena);
  if (a.GetKind() != b.GetKind()) return NoSuchOverload();
  if (a.Is(Kind::kDouble)) return Value::Double(a.AsDouble() / b.AsDouble());
  if (b.AsInt() == 0) return Value::Error("division by zero");
  if (a.Is(Kind::kUint)) return Value::Uint(a.AsUint() / b.AsUint());
  if (a.AsInt() == INT64_MIN && b.AsInt() == -1) return IntOverflow();
  return Value::Int(a.AsInt() / b.AsInt());
}

Value ModuloValues(Args args, Arena& arena) {
  const Value &a = args[0], &b = args[1];
  if (!a.Is(Kind::kInt) && !a.Is(Kind::kUint)) return Unsupported(a, "_%_", arena);
  if (a.GetKind() != b.GetKind()) return NoSuchOverload();
  if (b.AsInt() == 0) return Value::Error("modulus by zero");
  if (a.Is(Kind::kUint)) return Value::Uint(a.AsUint() % b.AsUint());
  if (a.AsInt() == INT64_MIN && b.AsInt() == -1) return IntOverflow();
  return Value::Int(a.AsInt() % b.AsInt());
}

Value NegateValue(Args args, Arena& arena) {
  const Value& a = args[0];
  if (a.Is(Kind::kDouble)) return Value::Double(-a.AsDouble());
  if (a.Is(Kind::kBool)) return NoSuchOverload();
  if (!a.Is(Kind::kInt) && !a.Is(Kind::kDuration)) return Unsupported(a, "-_", arena);
  if (a.AsInt() == INT64_MIN) return IntOverflow();
  return a.Is(Kind::kInt) ? Value::Int(-a.AsInt()) : Value::Duration(-a.AsInt());
}

}  // namespace apimesh::cel
