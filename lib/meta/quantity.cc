#include "lib/meta/quantity.h"

#include <charconv>
#include <limits>
#include <optional>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

namespace apimesh::meta {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Format = Quantity::Format;

constexpr std::string_view kWrongFormat =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kWrongNumber = "unable to parse numeric part of quantity";
constexpr std::string_view kWrongSuffix = "unable to parse quantity's suffix";
/// Larger exponents are not expanded into digits, so that a short text cannot cost megabytes. Numbers with more digits
/// are refused: parsing and formatting take quadratic time, which is minutes for a number that fits into a request.
constexpr std::int32_t kMaxExpanded = 4096;

struct Suffix {
  std::string_view text;
  int base;
  int exponent;
};
constexpr Suffix kSuffixes[] = {{"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"", 10, 0},
                                {"k", 10, 3},  {"M", 10, 6},  {"G", 10, 9},  {"T", 10, 12},
                                {"P", 10, 15}, {"E", 10, 18}, {"Ki", 2, 10}, {"Mi", 2, 20},
                                {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60}};

struct Notation {
  int base;
  std::int32_t exponent;
  Format format;
};

std::optional<Notation> Interpret(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) {
      return Notation{suffix.base, suffix.exponent, suffix.base == 2 ? Format::kBinarySi : Format::kDecimalSi};
    }
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // kube-apiserver keeps the low 32 bits of the exponent. Exponents that large are refused here.
  if (exponent > 1'000'000'000 || exponent < -1'000'000'000) return std::nullopt;
  return Notation{10, static_cast<std::int32_t>(exponent), Format::kDecimalExponent};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// kube-apiserver does not rewrite short numbers that look canonical: "1.500" and "+5" stay unchanged.
bool KeepsText(std::string_view whole, std::string_view fraction, const Notation& notation) {
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  if (whole.empty()) return false;
  const std::size_t digits = whole.size() + fraction.size();
  if (notation.base == 2) {
    if (!fraction.empty() || static_cast<int>(digits) > 14 - notation.exponent * 3 / 10) return false;
    std::int64_t value = 0;
    std::from_chars(whole.data(), whole.data() + whole.size(), value);
    return value % 8 != 0;
  }
  const std::int64_t scale = notation.exponent - static_cast<std::int64_t>(fraction.size());
  const std::string shifted = std::string(whole) + std::string(fraction);
  return digits <= 18 && scale >= -9 && scale % 3 == 0 && !shifted.ends_with("000");
}

Integer Power10(std::int32_t exponent) {
  return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent));
}

/// Divides by 10^digits and rounds away from zero. Returns whether the result is exact.
bool DivideRoundingUp(Integer& value, std::int64_t digits) {
  if (value == 0 || digits <= 0) return true;
  if (digits > kMaxExpanded) {
    value = value > 0 ? 1 : -1;
    return false;
  }
  Integer rest;
  Integer quotient;
  boost::multiprecision::divide_qr(value, Power10(static_cast<std::int32_t>(digits)), quotient, rest);
  const bool exact = rest == 0;
  if (!exact) quotient += value > 0 ? 1 : -1;
  value = std::move(quotient);
  return exact;
}

}  // namespace

struct Quantity::Decimal {
  Integer unscaled;
  std::int32_t exponent = 0;

  /// Returns the value as a multiple of 10^scale, rounded away from zero. An exponent above kMaxExpanded is reduced to
  /// it, which still gives a huge number.
  Integer AtScale(std::int32_t scale, bool* exact = nullptr) const {
    Integer out = unscaled;
    const std::int64_t shift = std::int64_t(exponent) - scale;
    bool is_exact = true;
    if (shift < 0) {
      is_exact = DivideRoundingUp(out, -shift);
    } else if (shift > 0 && out != 0) {
      out *= Power10(static_cast<std::int32_t>(std::min<std::int64_t>(shift, kMaxExpanded)));
    }
    if (exact) *exact = is_exact;
    return out;
  }

  /// Position of the leading digit: 10^(n-1) <= |value| < 10^n.
  std::int64_t Magnitude() const {
    const Integer absolute = boost::multiprecision::abs(unscaled);
    return static_cast<std::int64_t>(absolute.str().size()) + exponent;
  }

  int Compare(const Decimal& other) const {
    if (unscaled.sign() != other.unscaled.sign()) return unscaled.sign() < other.unscaled.sign() ? -1 : 1;
    if (unscaled == 0) return 0;
    // Values of different magnitude compare without expanding the digits.
    if (const std::int64_t a = Magnitude(), b = other.Magnitude(); a != b) return (a < b ? -1 : 1) * unscaled.sign();
    const std::int32_t scale = std::min(exponent, other.exponent);
    return AtScale(scale).compare(other.AtScale(scale));
  }
};

Quantity::Quantity(std::int64_t value, Format format) : unscaled_(value), format_(format) {}

Quantity::Decimal Quantity::ToDecimal() const { return big_ ? *big_ : Decimal{unscaled_, exponent_}; }

void Quantity::Set(const Decimal& decimal) {
  big_.reset();
  unscaled_ = 0;
  exponent_ = 0;
  if (decimal.unscaled >= std::numeric_limits<std::int64_t>::min() &&
      decimal.unscaled <= std::numeric_limits<std::int64_t>::max()) {
    unscaled_ = decimal.unscaled.convert_to<std::int64_t>();
    exponent_ = decimal.exponent;
  } else {
    big_ = std::make_shared<const Decimal>(decimal);
  }
}

bool Quantity::SetSmall(std::string_view digits, int base, std::int32_t exponent, bool negative) {
  constexpr std::size_t kSafeDigits = 15;
  if (digits.size() > kSafeDigits || exponent < -9) return false;
  std::int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  if (base == 2) {
    if (exponent > 0 && value >> (62 - exponent) != 0) return false;
    value <<= exponent;
    exponent = 0;
  }
  unscaled_ = negative ? -value : value;
  exponent_ = exponent;
  return true;
}

boost::system::result<Quantity, std::string> Quantity::Parse(std::string_view text) {
  if (text.empty()) return std::string(kWrongFormat);
  std::size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
  const bool negative = text[0] == '-';
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return text.substr(start, at - start);
  };
  const std::string_view whole = digits();
  std::string_view fraction;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  const std::size_t suffix_start = at;
  while (at < text.size() && std::string_view("eEinumkKMGTP").find(text[at]) != std::string_view::npos) ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  digits();
  if (at != text.size()) return std::string(kWrongFormat);
  const std::optional<Notation> notation = Interpret(text.substr(suffix_start));
  if (!notation) return std::string(kWrongSuffix);
  // A number without digits is zero, except with the suffixes for which kube-apiserver uses its code for large or tiny
  // numbers.
  if (whole.empty() && fraction.empty() && (notation->base == 2 ? notation->exponent >= 50 : notation->exponent < -9)) {
    return std::string(kWrongNumber);
  }
  if (whole.size() + fraction.size() > kMaxExpanded) return std::string(kWrongNumber);

  Quantity quantity;
  quantity.format_ = notation->format;
  if (fraction.empty() && quantity.SetSmall(whole, notation->base, notation->exponent, negative)) {
    if (KeepsText(whole, fraction, *notation)) quantity.text_ = text;
    return quantity;
  }

  std::string all = std::string(whole) + std::string(fraction);
  all.erase(0, std::min(all.find_first_not_of('0'), all.size()));
  Decimal decimal;
  if (!all.empty()) decimal.unscaled = Integer(all);
  decimal.exponent = -static_cast<std::int32_t>(fraction.size());
  if (notation->base == 10) {
    decimal.exponent += notation->exponent;
  } else {
    decimal.unscaled <<= notation->exponent;
  }

  if (decimal.exponent < -9) {
    decimal.unscaled = decimal.AtScale(-9);
    decimal.exponent = -9;
  }
  if (notation->format == Format::kBinarySi && decimal.unscaled != 0) {
    const Decimal max{Integer(std::numeric_limits<std::int64_t>::max()), 0};
    if (decimal.Compare(max) > 0) decimal = max;
    if (decimal.Compare({Integer(1), 0}) < 0) quantity.format_ = Format::kDecimalSi;
  }
  if (negative) decimal.unscaled = -decimal.unscaled;
  quantity.Set(decimal);
  if (KeepsText(whole, fraction, *notation)) quantity.text_ = text;
  return quantity;
}

namespace {

std::string Digits(const Integer& number) { return number.str(); }
std::string Digits(std::int64_t number) { return std::to_string(number); }

/// Formats an integer of at least 1024 with a binary suffix.
template <class Number>
std::string BinaryText(Number whole) {
  int exponent = 0;
  while (whole % 1024 == 0) {
    whole /= 1024;
    exponent += 10;
  }
  std::string text = Digits(whole);
  for (const Suffix& one : kSuffixes) {
    if (one.base == 2 && one.exponent == exponent) text += one.text;
  }
  return text;
}

/// Formats a decimal other than 0. It multiplies `unscaled` by up to 100, which must not overflow.
template <class Number>
std::string DecimalText(Number unscaled, std::int32_t exponent, Format format) {
  while (unscaled % 10 == 0) {
    unscaled /= 10;
    ++exponent;
  }
  while (exponent % 3 != 0) {
    unscaled *= 10;
    --exponent;
  }
  std::string text = Digits(unscaled);
  if (format == Format::kDecimalExponent) return exponent == 0 ? text : fmt::format("{}e{}", text, exponent);
  // kube-apiserver has no suffix beyond E and writes none for larger exponents.
  for (const Suffix& one : kSuffixes) {
    if (one.base == 10 && one.exponent == exponent) return text.append(one.text);
  }
  return text;
}

}  // namespace

std::string Quantity::ToString() const {
  if (!text_.empty()) return text_;
  if (IsZero()) return "0";
  constexpr std::int64_t kSmall = std::numeric_limits<std::int64_t>::max() / 100;
  const bool small = !big_ && unscaled_ <= kSmall && unscaled_ >= -kSmall;
  if (small && format_ != Format::kBinarySi) return DecimalText(unscaled_, exponent_, format_);
  if (small && exponent_ == 0) {
    return unscaled_ >= 1024 || unscaled_ <= -1024 ? BinaryText(unscaled_)
                                                   : DecimalText(unscaled_, 0, Format::kDecimalSi);
  }
  const Decimal decimal = ToDecimal();
  if (format_ != Format::kBinarySi) return DecimalText(decimal.unscaled, decimal.exponent, format_);
  bool exact = true;
  const Integer whole = decimal.AtScale(0, &exact);
  if (exact && boost::multiprecision::abs(whole) >= 1024) return BinaryText(whole);
  return DecimalText(decimal.unscaled, decimal.exponent, Format::kDecimalSi);
}

namespace {
std::int64_t Saturate(const Integer& value) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return value > kMax ? kMax : value < kMin ? kMin : value.convert_to<std::int64_t>();
}
}  // namespace

std::int64_t Quantity::Value() const { return !big_ && exponent_ == 0 ? unscaled_ : Saturate(ToDecimal().AtScale(0)); }
std::int64_t Quantity::MilliValue() const { return Saturate(ToDecimal().AtScale(-3)); }
int Quantity::Sign() const { return big_ ? big_->unscaled.sign() : (unscaled_ > 0) - (unscaled_ < 0); }
bool Quantity::IsZero() const { return Sign() == 0; }

void Quantity::Combine(const Quantity& other, int sign) {
  text_.clear();
  if (IsZero()) format_ = other.format_;
  Decimal a = ToDecimal();
  Decimal b = other.ToDecimal();
  if (b.unscaled == 0) return;
  const std::int32_t scale = a.unscaled == 0 ? b.exponent : std::min(a.exponent, b.exponent);
  Set({a.AtScale(scale) + sign * b.AtScale(scale), scale});
}
void Quantity::Add(const Quantity& other) { Combine(other, 1); }
void Quantity::Sub(const Quantity& other) { Combine(other, -1); }

std::strong_ordering Quantity::operator<=>(const Quantity& other) const {
  if (!big_ && !other.big_ && exponent_ == other.exponent_) return unscaled_ <=> other.unscaled_;
  return ToDecimal().Compare(other.ToDecimal()) <=> 0;
}

}  // namespace apimesh::meta
