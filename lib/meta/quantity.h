#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace apimesh::meta {

/// resource.Quantity: "100m", "1.5Gi", "1e3". Exact decimals of any size, which keep the notation of the text they were
/// parsed from. As in kube-apiserver, digits below 10^-9 are rounded up, and binary values above 2^63-1 are reduced to
/// 2^63-1. Only Add, Sub and assignment change a quantity.
class Quantity {
 public:
  enum class Format { kDecimalExponent, kDecimalSi, kBinarySi };

  Quantity() = default;  // 0
  explicit Quantity(std::int64_t value, Format format = Format::kDecimalSi);

  /// On failure, returns kube-apiserver's error text.
  static boost::system::result<Quantity, std::string> Parse(std::string_view text);
  /// Returns the canonical text: an integer with the largest suffix that needs no fraction.
  std::string ToString() const;

  /// Returns the value in units of 1 or 1/1000, rounded away from zero. Values that do not fit saturate.
  std::int64_t Value() const;
  std::int64_t MilliValue() const;
  bool IsZero() const;
  int Sign() const;
  Format GetFormat() const { return format_; }

  /// If this quantity is zero, it takes the notation of `other`.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);

  std::strong_ordering operator<=>(const Quantity& other) const;
  bool operator==(const Quantity& other) const { return (*this <=> other) == 0; }

 private:
  struct Decimal;  // unscaled * 10^exponent, of any size
  Decimal ToDecimal() const;
  void Set(const Decimal& decimal);
  /// Sets the value to digits * base^exponent without arbitrary-precision arithmetic. Returns false if the value is not
  /// small enough for that.
  bool SetSmall(std::string_view digits, int base, std::int32_t exponent, bool negative);
  void Combine(const Quantity& other, int sign);

  std::int64_t unscaled_ = 0;
  std::int32_t exponent_ = 0;
  std::shared_ptr<const Decimal> big_;  // the value, if it does not fit into unscaled_ and exponent_
  Format format_ = Format::kDecimalSi;
  std::string text_;  // the text that was parsed, where kube-apiserver prints it unchanged
};

}  // namespace apimesh::meta
