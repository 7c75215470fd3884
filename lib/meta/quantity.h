#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace apimesh::meta {

/// resource.Quantity: "100m", "1.5Gi", "1e3". Exact decimals of any size, kept in the notation of their text. Parts below
/// 10^-9 are rounded up, binary values above 2^63-1 are cut there, as the reference does. Immutable but for Add and Sub.
class Quantity {
 public:
  enum class Format { kDecimalExponent, kDecimalSi, kBinarySi };

  Quantity() = default;  // 0
  explicit Quantity(std::int64_t value, Format format = Format::kDecimalSi);

  /// An error is the reference's text.
  static boost::system::result<Quantity, std::string> Parse(std::string_view text);
  /// The canonical text: a whole number with the largest suffix that needs no fraction.
  std::string ToString() const;

  /// Rounded up (away from zero) to a whole number of 1 or 1/1000; what does not fit saturates.
  std::int64_t Value() const;
  std::int64_t MilliValue() const;
  bool IsZero() const;
  int Sign() const;
  Format GetFormat() const { return format_; }

  /// A zero takes on the notation of what is added.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);

  std::strong_ordering operator<=>(const Quantity& other) const;
  bool operator==(const Quantity& other) const { return (*this <=> other) == 0; }

 private:
  struct Decimal;  // unscaled * 10^exponent, of any size
  Decimal ToDecimal() const;
  void Set(const Decimal& decimal);
  /// The same for digits * base^exponent, without the detour over numbers of any size; false: not that small.
  bool SetSmall(std::string_view digits, int base, std::int32_t exponent, bool negative);
  void Combine(const Quantity& other, int sign);

  std::int64_t unscaled_ = 0;
  std::int32_t exponent_ = 0;
  std::shared_ptr<const Decimal> big_;  // what does not fit the two above
  Format format_ = Format::kDecimalSi;
  std::string text_;  // the text it was parsed from, where that is what the reference prints
};

}  // namespace apimesh::meta
