#include "lib/cel/library/net/address.h"

#include <algorithm>
#include <charconv>

#include "lib/base/ip_address.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Reads an address; the errors and their order are those of Go.
class Reader {
 public:
  Reader(std::string_view text, std::string& error) : whole_(text), error_(error) {}

  std::optional<Address> Read(bool& has_zone) {
    for (const char c : whole_) {
      if (c == '.') return ReadV4(whole_);
      if (c == ':') return ReadV6(has_zone);
      if (c == '%') return Fail("missing IPv6 address");
    }
    return Fail("unable to parse IP");
  }

 private:
  std::optional<Address> Fail(std::string_view why, std::optional<std::string_view> at = {}) {
    error_ = fmt::format("ParseAddr({}): {}", meta::Quoted(whole_), why);
    if (at && !at->empty()) error_ += fmt::format(" (at {})", meta::Quoted(*at));
    return std::nullopt;
  }

  std::optional<Address> ReadV4(std::string_view text) {
    Address out;
    std::size_t field = 0, digits = 0;
    int value = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (IsDigit(text[i])) {
        if (digits == 1 && value == 0) return Fail("IPv4 field has octet with leading zero");
        value = value * 10 + (text[i] - '0');
        ++digits;
        if (value > 255) return Fail("IPv4 field has value >255");
      } else if (text[i] == '.') {
        if (i == 0 || i + 1 == text.size() || text[i - 1] == '.')
          return Fail("IPv4 field must have at least one digit", text.substr(i));
        if (field == 3) return Fail("IPv4 address too long");
        out.bytes[field++] = static_cast<std::uint8_t>(value);
        value = 0;
        digits = 0;
      } else {
        return Fail("unexpected character", text.substr(i));
      }
    }
    if (field < 3) return Fail("IPv4 address too short");
    out.bytes[3] = static_cast<std::uint8_t>(value);
    return out;
  }

  std::optional<Address> ReadV6(bool& has_zone) {
    std::string_view text = whole_;
    if (const std::size_t percent = text.find('%'); percent != std::string_view::npos) {
      if (percent + 1 == text.size()) return Fail("zone must be a non-empty string");
      has_zone = true;
      text = text.substr(0, percent);
    }
    Address out;
    out.v6 = true;
    int ellipsis = -1;
    if (text.starts_with("::")) {
      ellipsis = 0;
      text.remove_prefix(2);
      if (text.empty()) return out;
    }
    int i = 0;
    while (i < 16) {
      std::size_t digits = 0;
      unsigned value = 0;
      for (; digits < text.size() && std::isxdigit(static_cast<unsigned char>(text[digits])); ++digits) {
        value = value * 16 + (IsDigit(text[digits]) ? text[digits] - '0' : (text[digits] | 0x20) - 'a' + 10);
        if (digits > 3) return Fail("each group must have 4 or less digits", text);
        if (value > 0xffff) return Fail("IPv6 field has value >=2^16", text);
      }
      if (digits == 0) return Fail("each colon-separated field must have at least one digit", text);
      if (digits < text.size() && text[digits] == '.') {
        if (ellipsis < 0 && i != 12)
          return Fail("embedded IPv4 address must replace the final 2 fields of the address", text);
        if (i + 4 > 16) return Fail("too many hex fields to fit an embedded IPv4 at the end of the address", text);
        const auto v4 = ReadV4(text);
        if (!v4) return std::nullopt;
        std::copy_n(v4->bytes.begin(), 4, out.bytes.begin() + i);
        text = {};
        i += 4;
        break;
      }
      out.bytes[i] = static_cast<std::uint8_t>(value >> 8);
      out.bytes[i + 1] = static_cast<std::uint8_t>(value);
      i += 2;
      text.remove_prefix(digits);
      if (text.empty()) break;
      if (text[0] != ':') return Fail("unexpected character, want colon", text);
      if (text.size() == 1) return Fail("colon must be followed by more characters", text);
      text.remove_prefix(1);
      if (text[0] != ':') continue;
      if (ellipsis >= 0) return Fail("multiple :: in address", text);
      ellipsis = i;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
    if (!text.empty()) return Fail("trailing garbage after address", text);
    if (i == 16) return ellipsis >= 0 ? Fail("the :: must expand to at least one field of zeros") : out;
    if (ellipsis < 0) return Fail("address string too short");
    const int missing = 16 - i;
    std::copy_backward(out.bytes.begin() + ellipsis, out.bytes.begin() + i, out.bytes.end());
    std::fill_n(out.bytes.begin() + ellipsis, missing, 0);
    return out;
  }

  std::string_view whole_;
  std::string& error_;
};

}  // namespace

bool Address::Is4In6() const {
  return v6 && std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

std::string Address::ToString() const {
  if (v6) return ToText(boost::asio::ip::address_v6(bytes));
  return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

std::optional<Address> ParseAddress(std::string_view text, bool& has_zone, std::string& error) {
  return Reader(text, error).Read(has_zone);
}

Address Prefix::Masked() const {
  Address out = address;
  for (int i = 0; i < out.Bits() / 8; ++i) {
    const int kept = std::clamp(bits - 8 * i, 0, 8);
    out.bytes[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xff00 >> kept);
  }
  return out;
}

bool Prefix::Contains(const Address& other) const {
  return address.v6 == other.v6 && Prefix{other, bits}.Masked() == Masked();
}

std::optional<Prefix> ParsePrefix(std::string_view text, std::string& error) {
  const auto fail = [&](std::string_view why) {
    error = fmt::format("netip.ParsePrefix({}): {}", meta::Quoted(text), why);
    return std::optional<Prefix>();
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return fail("no '/'");
  bool has_zone = false;
  const auto address = ParseAddress(text.substr(0, slash), has_zone, error);
  if (!address) return fail(std::string(error));
  if (has_zone) return fail("IPv6 zones cannot be present in a prefix");
  const std::string_view bits = text.substr(slash + 1);
  const bool digits = !bits.empty() && std::all_of(bits.begin(), bits.end(), IsDigit);
  if (!digits || (bits.size() > 1 && bits[0] == '0')) return fail("bad bits after slash: " + meta::Quoted(bits));
  int length = 0;
  const auto [end, failure] = std::from_chars(bits.data(), bits.data() + bits.size(), length);
  if (failure != std::errc()) return fail("bad bits after slash: " + meta::Quoted(bits));
  if (length > address->Bits()) return fail("prefix length out of range");
  return Prefix{*address, length};
}

}  // namespace apimesh::cel
