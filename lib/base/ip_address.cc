#include "lib/base/ip_address.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace apimesh {
namespace {

namespace ip = boost::asio::ip;
using V6Bytes = ip::address_v6::bytes_type;

constexpr std::size_t kLongestText = 45;  // an IPv6 address that ends with an IPv4 address

bool AllZero(const V6Bytes& bytes, std::size_t from, std::size_t to) {
  return std::all_of(bytes.begin() + from, bytes.begin() + to, [](unsigned char byte) { return byte == 0; });
}

ip::address_v4 V4At(const V6Bytes& bytes, std::size_t offset) {
  return ip::address_v4({bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]});
}

std::optional<ip::address_v4> Embedded(const ip::address_v6& address) {
  const V6Bytes bytes = address.to_bytes();
  if (address.is_loopback() || address.is_unspecified()) return std::nullopt;
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return V4At(bytes, 2);
  const bool nat64 = bytes[0] == 0x00 && bytes[1] == 0x64 && bytes[2] == 0xff && bytes[3] == 0x9b;
  if (nat64 && AllZero(bytes, 4, 12)) return V4At(bytes, 12);
  if (!AllZero(bytes, 0, 8)) return std::nullopt;
  const bool compatible = AllZero(bytes, 8, 12);
  const bool mapped = bytes[8] == 0 && bytes[9] == 0 && bytes[10] == 0xff && bytes[11] == 0xff;
  const bool translated = bytes[8] == 0xff && bytes[9] == 0xff && bytes[10] == 0 && bytes[11] == 0;
  if (compatible || mapped || translated) return V4At(bytes, 12);
  return std::nullopt;
}

IpScope ScopeOfV4(const ip::address_v4& address) {
  const auto bytes = address.to_bytes();
  if (address.is_unspecified()) return IpScope::kUnspecified;
  if (address.is_loopback()) return IpScope::kLoopback;
  if (bytes[0] == 169 && bytes[1] == 254) return IpScope::kLinkLocal;
  if (bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0) return IpScope::kLinkLocalMulticast;
  if (address.is_multicast()) return IpScope::kMulticast;
  return address == ip::address_v4::broadcast() ? IpScope::kBroadcast : IpScope::kGlobal;
}

IpScope ScopeOfV6(const ip::address_v6& address) {
  if (address.is_unspecified()) return IpScope::kUnspecified;
  if (address.is_loopback()) return IpScope::kLoopback;
  if (address.is_link_local()) return IpScope::kLinkLocal;
  if (address.is_multicast_link_local()) return IpScope::kLinkLocalMulticast;
  return address.is_multicast() ? IpScope::kMulticast : IpScope::kGlobal;
}

bool IsHexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// The dotted numbers of `text` without their leading zeros.
std::string WithoutLeadingZeros(std::string_view text) {
  std::string stripped;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool last_digit = i + 1 == text.size() || text[i + 1] == '.';
    if (at_start && text[i] == '0' && !last_digit) continue;
    stripped += text[i];
    at_start = text[i] == '.';
  }
  return stripped;
}

/// The begin and end of the longest run of at least two zero groups.
std::pair<int, int> LongestZeroRun(const std::array<unsigned, 8>& groups) {
  std::pair<int, int> longest{-1, -1};
  for (int begin = 0; begin < 8; ++begin) {
    int end = begin;
    while (end < 8 && groups[static_cast<std::size_t>(end)] == 0) ++end;
    if (end - begin >= 2 && end - begin > longest.second - longest.first) longest = {begin, end};
    begin = std::max(begin, end);
  }
  return longest;
}

}  // namespace

std::optional<IpAddress> ParseIp(std::string_view text) {
  const auto allowed = [](char c) { return IsHexadecimal(c) || c == '.' || c == ':'; };
  // Otherwise a zone would be accepted, and a NUL byte would end the text early.
  if (text.size() > kLongestText || !std::all_of(text.begin(), text.end(), allowed)) return std::nullopt;
  boost::system::error_code failure;
  const IpAddress address = ip::make_address(std::string(text), failure);
  if (failure) return std::nullopt;
  return address;
}

std::optional<IpAddress> ParseIpWithLeadingZeros(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t tail = colon == std::string_view::npos ? 0 : colon + 1;
  if (text.find('.', tail) == std::string_view::npos) return ParseIp(text);
  return ParseIp(std::string(text.substr(0, tail)) + WithoutLeadingZeros(text.substr(tail)));
}

std::string ToText(const IpAddress& address) {
  if (address.is_v4()) return address.to_v4().to_string();
  const V6Bytes bytes = address.to_v6().to_bytes();
  if (address.to_v6().is_v4_mapped()) return V4At(bytes, 12).to_string();
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = bytes[2 * i] * 256u + bytes[2 * i + 1];
  const auto [begin, end] = LongestZeroRun(groups);
  std::string text;
  for (int i = 0; i < 8; ++i) {
    if (i == begin) {
      text += "::";
      i = end - 1;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    text += fmt::format("{:x}", groups[static_cast<std::size_t>(i)]);
  }
  return text;
}

IpAddress Unmap(const IpAddress& address) {
  if (address.is_v4()) return address;
  const std::optional<ip::address_v4> embedded = Embedded(address.to_v6());
  return embedded ? IpAddress(*embedded) : address;
}

IpScope ScopeOf(const IpAddress& address) {
  const IpAddress plain = Unmap(address);
  return plain.is_v4() ? ScopeOfV4(plain.to_v4()) : ScopeOfV6(plain.to_v6());
}

}  // namespace apimesh
