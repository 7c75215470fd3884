#include "lib/schema/values/number_rules.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "lib/schema/rules.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::PathChain;

constexpr double kTwoTo63 = 9223372036854775808.0;
// The smallest number that is rounded to infinity in 32 bits.
constexpr double kFloatOverflow = 3.4028235677973366e38;

bool InRange(double number, Type type, Format format) {
  if (type == Type::kInteger) {
    if (number != std::trunc(number)) return false;
    // kube-apiserver compares the rounded text of the smallest integer, which is out of range.
    if (format != Format::kInt32) return number > -kTwoTo63 && number < kTwoTo63;
    return number >= std::numeric_limits<std::int32_t>::min() && number <= std::numeric_limits<std::int32_t>::max();
  }
  return type != Type::kNumber || format != Format::kFloat || std::abs(number) < kFloatOverflow;
}

/// Converts a limit for the comparison with integers. A limit that does not fit becomes the smallest integer, as in
/// kube-apiserver.
std::int64_t ToInteger(double limit) {
  return limit >= -kTwoTo63 && limit < kTwoTo63 ? static_cast<std::int64_t>(limit)
                                                : std::numeric_limits<std::int64_t>::min();
}

/// Checks one number. Integers are compared with the integral part of a limit, unless the limit itself is not a valid
/// value of the type; then that is an error too.
class NumberCheck {
 public:
  NumberCheck(const json::value& value, const Node& node, const PathChain& path, Findings& found)
      : value_(value), number_(value.to_number<double>()), node_(node), path_(path), found_(found) {}

  void Run() {
    const Node::Rules& rules = *node_.rules;
    // Every 64-bit integer is in the range of integers, although its conversion to a double may not be.
    if (!value_.is_int64() || rules.format == Format::kInt32) CheckRange("Checked", number_);
    if (rules.multiple_of) CheckMultiple(*rules.multiple_of);
    if (rules.minimum) {
      const bool exclusive = rules.exclusive_minimum;
      CheckLimit("Minimum boundary", *rules.minimum, exclusive ? "greater than" : "greater than or equal to",
                 [exclusive](auto number, auto limit) { return exclusive ? number > limit : number >= limit; });
    }
    if (rules.maximum) {
      const bool exclusive = rules.exclusive_maximum;
      CheckLimit("Maximum boundary", *rules.maximum, exclusive ? "less than" : "less than or equal to",
                 [exclusive](auto number, auto limit) { return exclusive ? number < limit : number <= limit; });
    }
  }

 private:
  bool CheckRange(std::string_view what, double number) {
    const Format format = node_.rules->format;
    if (InRange(number, node_.type, format)) return true;
    found_.Add([&] {
      const std::string_view type = node_.type == Type::kInteger ? "integer" : "number";
      const std::string of_format =
          format == Format::kNone ? "(default format)" : fmt::format("with format {}", node_.format);
      return GeneralError(fmt::format("{} value must be of type {} {} in {}", what, type, of_format, path_.ToString()));
    });
    return false;
  }

  void CheckMultiple(double factor) {
    const bool integers = CheckRange("MultipleOf", factor) && value_.is_int64();
    // As in kube-apiserver, integers are divided by the integral part of the factor.
    const double divisor = integers ? std::trunc(factor) : factor;
    if (divisor <= 0) {
      found_.Add([&] {
        const std::string at = path_.ToString(), shown = NumberText(divisor);
        return meta::Invalid(at, shown,
                             fmt::format("factor MultipleOf declared for {} must be positive: {}", at, shown));
      });
      return;
    }
    const bool fits = integers && divisor < kTwoTo63
                          ? value_.get_int64() % static_cast<std::int64_t>(divisor) == 0
                          : std::abs(number_ / divisor - std::round(number_ / divisor)) <= 1e-9;
    if (!fits) Complain("a multiple of", integers, divisor);
  }

  template <class Fits>
  void CheckLimit(std::string_view what, double limit, std::string_view relation, Fits fits) {
    const bool integers = CheckRange(what, limit) && value_.is_int64();
    const bool valid = integers ? fits(value_.get_int64(), ToInteger(limit)) : fits(number_, limit);
    if (!valid) Complain(relation, integers, limit);
  }

  void Complain(std::string_view relation, bool integers, double limit) {
    found_.Add([&] {
      const std::string at = path_.ToString();
      const std::string shown = integers ? fmt::format("{}", value_.get_int64()) : NumberText(number_);
      const std::string bound = integers ? fmt::format("{}", ToInteger(limit)) : NumberText(limit);
      return meta::Invalid(at, shown, fmt::format("{} in body should be {} {}", at, relation, bound));
    });
  }

  const json::value& value_;
  const double number_;
  const Node& node_;
  const PathChain& path_;
  Findings& found_;
};

}  // namespace

std::string NumberText(double value) {
  char text[32];
  const auto end = [&text](std::to_chars_result result) { return std::string(text, result.ptr); };
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e6);
  return end(
      std::to_chars(text, text + sizeof text, value, plain ? std::chars_format::fixed : std::chars_format::scientific));
}

bool IsInteger(double value) {
  constexpr double kLargest = 9007199254740991.0;  // larger numbers are not exact
  return std::abs(value) <= kLargest && value == std::trunc(value);
}

void CheckNumber(const json::value& value, const Node& node, const PathChain& path, Findings& found) {
  NumberCheck(value, node, path, found).Run();
}

}  // namespace apimesh::schema
