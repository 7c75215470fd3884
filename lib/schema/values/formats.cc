#include "lib/schema/values/formats.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include <re2/re2.h>

#include "lib/base/ip_address.h"
#include "lib/base/text/text.h"
#include "lib/schema/values/address_formats.h"

namespace apimesh::schema {
namespace {

constexpr std::pair<std::string_view, Format> kTextFormats[] = {
    {"bsonobjectid", Format::kBsonObjectId},
    {"byte", Format::kByte},
    {"cidr", Format::kCidr},
    {"creditcard", Format::kCreditCard},
    {"date", Format::kDate},
    {"datetime", Format::kDateTime},
    {"duration", Format::kDuration},
    {"email", Format::kEmail},
    {"hexcolor", Format::kHexColor},
    {"hostname", Format::kHostname},
    {"ipv4", Format::kIpv4},
    {"ipv6", Format::kIpv6},
    {"isbn", Format::kIsbn},
    {"isbn10", Format::kIsbn10},
    {"isbn13", Format::kIsbn13},
    {"k8slongname", Format::kLongName},
    {"k8sshortname", Format::kShortName},
    {"mac", Format::kMac},
    {"password", Format::kPassword},
    {"rgbcolor", Format::kRgbColor},
    {"ssn", Format::kSsn},
    {"uri", Format::kUri},
    {"uuid", Format::kUuid},
    {"uuid3", Format::kUuid3},
    {"uuid4", Format::kUuid4},
    {"uuid5", Format::kUuid5},
};

/// The pattern of a format that a regular expression decides; nullptr for the others.
const char* PatternOf(Format format) {
  switch (format) {
    case Format::kBsonObjectId: return "(?i)[0-9a-f]{24}";
    case Format::kByte: return "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})";
    case Format::kHexColor: return "(?i)#?([0-9a-f]{3}){1,2}";
    // A single label, or labels that end with a top-level domain of letters. Symbols and letters of any script count
    // as letters.
    case Format::kHostname:
      return R"([\pS\pLa-zA-Z0-9](-?[\pS\pLa-zA-Z0-9]{0,62})?|)"
             R"(([\pS\pLa-zA-Z0-9]([-\pS\pLa-zA-Z0-9]{0,61}[\pS\pLa-zA-Z0-9])?\.)+[\pLa-zA-Z]{2,63})";
    case Format::kLongName: return R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)";
    case Format::kShortName: return "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    case Format::kMac:
      return "(?i)([0-9a-f]{2}(:[0-9a-f]{2}){5}|[0-9a-f]{2}(:[0-9a-f]{2}){7}|[0-9a-f]{2}(:[0-9a-f]{2}){19}|"
             "[0-9a-f]{2}(-[0-9a-f]{2}){5}|[0-9a-f]{2}(-[0-9a-f]{2}){7}|[0-9a-f]{2}(-[0-9a-f]{2}){19}|"
             R"([0-9a-f]{4}(\.[0-9a-f]{4}){2}|[0-9a-f]{4}(\.[0-9a-f]{4}){3}|[0-9a-f]{4}(\.[0-9a-f]{4}){9}))";
    case Format::kRgbColor:
      return R"(rgb\(\s*(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\s*(,\s*(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\s*){2}\))";
    case Format::kSsn: return R"(\d{3}[- ]\d{2}[- ]\d{4})";
    case Format::kUuid: return "(?i)[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}";
    case Format::kUuid3: return "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}";
    case Format::kUuid4: return "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}";
    case Format::kUuid5: return "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}";
    case Format::kCreditCard:
      return R"(4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11})";
    case Format::kDateTime:  // the part after the "t"
      return R"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?(z|[+-]\d{2}:\d{2}))";
    case Format::kDuration: return R"([+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|[+-]?0)";
    default: return nullptr;
  }
}

/// Returns whether the pattern of `format` matches the whole text. Patterns are compiled on first use.
bool Matches(std::string_view text, Format format) {
  constexpr std::size_t kCount = static_cast<std::size_t>(Format::kUuid5) + 1;
  static const auto* const patterns = [] {
    auto* made = new std::array<std::unique_ptr<re2::RE2>, kCount>;
    for (std::size_t i = 0; i < kCount; ++i) {
      const char* const pattern = PatternOf(static_cast<Format>(i));
      if (pattern) (*made)[i] = std::make_unique<re2::RE2>(pattern, re2::RE2::Quiet);
    }
    return made;
  }();
  const re2::RE2* const pattern = (*patterns)[static_cast<std::size_t>(format)].get();
  return pattern && re2::RE2::FullMatch({text.data(), text.size()}, *pattern);
}

std::string Without(std::string_view text, std::string_view characters) {
  std::string rest;
  std::copy_if(text.begin(), text.end(), std::back_inserter(rest),
               [characters](char c) { return characters.find(c) == std::string_view::npos; });
  return rest;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
int Number(char c) { return c - '0'; }

bool IsIsbn10(std::string_view text) {
  const std::string code = Without(text, " \t\n\f\r-");
  if (code.size() != 10 || !std::all_of(code.begin(), code.end() - 1, IsDigit)) return false;
  if (!IsDigit(code[9]) && code[9] != 'X') return false;
  int sum = 10 * (code[9] == 'X' ? 10 : Number(code[9]));
  for (int i = 0; i < 9; ++i) sum += (i + 1) * Number(code[static_cast<std::size_t>(i)]);
  return sum % 11 == 0;
}

bool IsIsbn13(std::string_view text) {
  const std::string code = Without(text, " \t\n\f\r-");
  if (code.size() != 13 || !std::all_of(code.begin(), code.end(), IsDigit)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += (i % 2 == 0 ? 1 : 3) * Number(code[i]);
  return Number(code[12]) == (10 - sum % 10) % 10;
}

/// Ignores all characters other than digits. The last digit is a checksum (Luhn).
bool IsCreditCard(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), IsDigit);
  if (!Matches(digits, Format::kCreditCard)) return false;
  int sum = 0;
  bool doubled = false;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, doubled = !doubled) {
    const int number = Number(*digit) * (doubled ? 2 : 1);
    sum += number >= 10 ? number % 10 + 1 : number;
  }
  return sum % 10 == 0;
}

bool IsDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U}) {
    if (!IsDigit(text[i])) return false;
  }
  const auto number = [text](std::size_t start, std::size_t size) {
    int value = 0;
    for (const char c : text.substr(start, size)) value = 10 * value + Number(c);
    return value;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool IsDateTime(std::string_view text) {
  const std::string lower = LowerCase(text);
  const std::size_t split = lower.find('t');
  if (split == std::string::npos) return false;
  const std::string_view rest = std::string_view(lower).substr(split + 1);
  return IsDate(std::string_view(lower).substr(0, split)) && Matches(rest.substr(0, rest.find('t')), Format::kDateTime);
}

/// Returns whether kube-apiserver knows a unit: "nanoseconds" and "hrs" are valid, "hs" is not.
bool IsUnitOfTime(std::string_view unit) {
  constexpr std::string_view kShort[] = {"ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"};
  constexpr std::string_view kStarts[] = {"nano", "micro", "milli", "sec", "min", "hour", "day", "week"};
  if (std::find(std::begin(kShort), std::end(kShort), unit) != std::end(kShort)) return true;
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [unit](std::string_view start) { return unit.starts_with(start); });
}

/// Accepts the durations of Go, and any text in which a number and a unit of time follow each other.
bool IsDuration(std::string_view text) {
  if (Matches(text, Format::kDuration)) return true;
  static const re2::RE2* const part = new re2::RE2(R"((\d+)\s*([A-Za-zµ]+))", re2::RE2::Quiet);
  re2::StringPiece rest(text.data(), text.size());
  std::string number, unit;
  bool found = false;
  while (re2::RE2::FindAndConsume(&rest, *part, &number, &unit)) {
    if (Without(number, "0").size() > 18) return false;  // does not fit into 64 bits
    std::transform(unit.begin(), unit.end(), unit.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    found = found || IsUnitOfTime(unit);
  }
  return found;
}

bool IsHostname(std::string_view text) {
  if (text.size() > 255 || !Matches(text, Format::kHostname)) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (text.substr(0, dot).size() > 63) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::optional<IpAddress> address = ParseIpWithLeadingZeros(text.substr(0, slash));
  const std::string_view bits = text.substr(slash + 1);
  if (!address || bits.empty() || bits.size() > 9 || !std::all_of(bits.begin(), bits.end(), IsDigit)) return false;
  return std::stoi(std::string(bits)) <= (text.substr(0, slash).find(':') == std::string_view::npos ? 32 : 128);
}

}  // namespace

Format FindFormat(std::string_view type, std::string_view name) {
  if (type == "integer") return name == "int32" ? Format::kInt32 : name == "int64" ? Format::kInt64 : Format::kNone;
  if (type == "number") return name == "float" ? Format::kFloat : name == "double" ? Format::kDouble : Format::kNone;
  if (!type.empty() && type != "string") return Format::kNone;
  const std::string plain = Without(name, "-");
  for (const auto& [text, format] : kTextFormats) {
    if (text == plain) return format;
  }
  return Format::kNone;
}

bool HasFormat(std::string_view text, Format format) {
  switch (format) {
    case Format::kNone:
    case Format::kInt32:
    case Format::kInt64:
    case Format::kFloat:
    case Format::kDouble:
    case Format::kPassword: return true;
    case Format::kCidr: return IsCidr(text);
    case Format::kCreditCard: return IsCreditCard(text);
    case Format::kDate: return IsDate(text);
    case Format::kDateTime: return IsDateTime(text);
    case Format::kDuration: return IsDuration(text);
    case Format::kEmail: return IsEmailAddress(text);
    case Format::kHostname: return IsHostname(text);
    case Format::kIpv4: return text.find('.') != std::string_view::npos && ParseIpWithLeadingZeros(text);
    case Format::kIpv6: return text.find(':') != std::string_view::npos && ParseIp(text);
    case Format::kIsbn: return IsIsbn10(text) || IsIsbn13(text);
    case Format::kIsbn10: return IsIsbn10(text);
    case Format::kIsbn13: return IsIsbn13(text);
    case Format::kLongName: return text.size() <= 253 && Matches(text, format);
    case Format::kShortName: return text.size() <= 63 && Matches(text, format);
    case Format::kUri: return IsRequestUri(text);
    default: return Matches(text, format);
  }
}

}  // namespace apimesh::schema
