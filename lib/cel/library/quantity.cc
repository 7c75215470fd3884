#include "lib/meta/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lib/cel/library/library.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;
using meta::Quantity;

// How kube-apiserver keeps a quantity, which goes by the notation.
struct Form {
  bool small = true;     // an integer of 64 bits and a power of ten
  bool integer = false;  // and the power is not negative: "1000m" and "1.0" are no integers
  bool sum = false;      // a result of add or sub: there is no == with such an operand on the right
};

class QuantityValue : public Opaque {
 public:
  QuantityValue(Quantity quantity, Form form) : quantity(std::move(quantity)), form(form) {}
  std::string_view TypeName() const override { return "kubernetes.Quantity"; }
  std::string_view Constructor() const override { return "quantity"; }
  bool Equals(const Opaque& other) const override {
    return quantity == static_cast<const QuantityValue&>(other).quantity;
  }
  bool CanEqual() const override { return !form.sum; }
  std::string ToString() const override { return quantity.ToString(); }

  const Quantity quantity;
  const Form form;
};

const Quantity& Of(const Value& value) { return static_cast<const QuantityValue&>(value.AsOpaque()).quantity; }
const Form& FormOf(const Value& value) { return static_cast<const QuantityValue&>(value.AsOpaque()).form; }
Value Make(Arena& arena, Quantity quantity, Form form) {
  form.integer = form.integer && Quantity(quantity.Value()) == quantity;
  return Value::Of(arena.NewOwned<QuantityValue>(std::move(quantity), form));
}

// The power of ten of a decimal suffix: "k", "m", "e-3". The text is a quantity.
std::int64_t DecimalExponent(std::string_view suffix) {
  if (suffix.size() > 1) {
    std::int64_t exponent = 0;
    const std::size_t begin = suffix[1] == '+' ? 2 : 1;
    std::from_chars(suffix.data() + begin, suffix.data() + suffix.size(), exponent);
    return exponent;
  }
  constexpr std::string_view kSuffixes = "num kMGTPE";
  return suffix.empty() ? 0 : 3 * static_cast<std::int64_t>(kSuffixes.find(suffix[0])) - 9;
}

Form FormOfText(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size()), fraction = 0;
  text.remove_prefix(digits);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = std::min(text.find_first_not_of(kDigits), text.size());
    text.remove_prefix(fraction);
  }
  digits = std::max<std::size_t>(digits, 1) + fraction;
  if (text.ends_with('i')) {
    constexpr std::string_view kBinary = "KMGTPE";
    constexpr std::size_t kMostDigits = 14;
    const bool small = fraction == 0 && digits + 3 * (kBinary.find(text[0]) + 1) <= kMostDigits;
    return {.small = small, .integer = small};
  }
  constexpr std::size_t kMostDigits = 18;
  const std::int64_t exponent = DecimalExponent(text) - static_cast<std::int64_t>(fraction);
  constexpr std::int64_t kLeastExponent = -9;
  const bool small = digits <= kMostDigits && exponent >= kLeastExponent;
  return {.small = small, .integer = small && exponent >= 0};
}

Value ToQuantity(Args args, Arena& arena) {
  auto quantity = Quantity::Parse(args[0].AsString());
  return quantity ? Make(arena, *std::move(quantity), FormOfText(args[0].AsString()))
                  : Value::Error(arena, quantity.error());
}

// The value as a double, from the canonical text: digits and a suffix.
double ToDouble(const Value& quantity) {
  std::string text = Of(quantity).ToString();
  char* suffix = nullptr;
  const double number = std::strtod(text.c_str(), &suffix);
  const std::string_view unit = suffix;
  if (unit.size() == 2 && unit[1] == 'i') {
    constexpr std::string_view kBinary = "KMGTPE";
    return std::ldexp(number, static_cast<int>(10 * (kBinary.find(unit[0]) + 1)));
  }
  const std::int64_t exponent = DecimalExponent(unit);
  if (!FormOf(quantity).small && text.find_first_of("eE") >= text.size() - unit.size()) {
    // A number that does not fit is kept in units of 1e-9.
    text.resize(text.size() - unit.size());
    return std::strtod((text + fmt::format("e{}", exponent + 9)).c_str(), nullptr) * 1e-9;
  }
  return number * std::pow(10, static_cast<double>(exponent));
}

Value AsInteger(Args args, Arena&) {
  if (!FormOf(args[0]).integer) return Value::Error("cannot convert value to integer");
  return Value::Int(Of(args[0]).Value());
}

int Order(Args args) {
  const auto order = Of(args[0]) <=> Of(args[1]);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

template <bool kSubtract, bool kInt>
Value Combine(Args args, Arena& arena) {
  Quantity out = Of(args[0]);
  const Quantity other = kInt ? Quantity(args[1].AsInt(), Quantity::Format::kDecimalExponent) : Of(args[1]);
  if (kSubtract) {
    out.Sub(other);
  } else {
    out.Add(other);
  }
  const Form left = FormOf(args[0]), right = kInt ? Form{.integer = true} : FormOf(args[1]);
  const Form sum{.small = left.small && right.small, .integer = left.integer && right.integer, .sum = true};
  return Make(arena, std::move(out), sum);
}

}  // namespace

void AddQuantity(Declarations& out) {
  const TypeRef q = Type::Object("kubernetes.Quantity"), &s = Type::String(), &b = Type::Bool(), &i = Type::Int();
  const auto member = [&](const char* function, const char* id, std::vector<TypeRef> args, TypeRef result, Body body) {
    out.Add(function, {id, true, std::move(args), std::move(result), body});
  };
  out.Add("quantity", {"string_to_quantity", false, {s}, q, ToQuantity});
  out.Add("isQuantity", {"is_quantity_string", false, {s}, b, [](Args args, Arena&) {
                           return Value::Bool(Quantity::Parse(args[0].AsString()).has_value());
                         }});
  out.Add("sign", {"quantity_sign", false, {q}, i, [](Args args, Arena&) { return Value::Int(Of(args[0]).Sign()); }});
  member("isGreaterThan", "quantity_is_greater_than", {q, q}, b,
         [](Args args, Arena&) { return Value::Bool(Order(args) > 0); });
  member("isLessThan", "quantity_is_less_than", {q, q}, b,
         [](Args args, Arena&) { return Value::Bool(Order(args) < 0); });
  member("compareTo", "quantity_compare_to", {q, q}, i, [](Args args, Arena&) { return Value::Int(Order(args)); });
  member("asApproximateFloat", "quantity_get_float", {q}, Type::Double(),
         [](Args args, Arena&) { return Value::Double(ToDouble(args[0])); });
  member("asInteger", "quantity_get_int", {q}, i, AsInteger);
  member("isInteger", "quantity_is_integer", {q}, b,
         [](Args args, Arena&) { return Value::Bool(FormOf(args[0]).integer); });
  member("add", "quantity_add", {q, q}, q, Combine<false, false>);
  member("add", "quantity_add_int", {q, i}, q, Combine<false, true>);
  member("sub", "quantity_sub", {q, q}, q, Combine<true, false>);
  member("sub", "quantity_sub_int", {q, i}, q, Combine<true, true>);
}

}  // namespace apimesh::cel
