#include "services/core-api/validation/cidr_rules.h"

#include <charconv>

#include <fmt/format.h>

#include "services/core-api/features/rule_features.h"

namespace apimesh::core_api {
namespace {

using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

/// Returns the address without the bits after the prefix.
template <class Bytes>
Bytes Masked(Bytes bytes, unsigned bits) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned kept = bits > i * 8 ? std::min<unsigned>(bits - i * 8, 8) : 0;
    bytes[i] &= static_cast<unsigned char>(0xff00U >> kept);
  }
  return bytes;
}

bool IsMapped(const IpAddress& address) { return address.is_v6() && address.to_v6().is_v4_mapped(); }

/// Parses a CIDR as netip.ParsePrefix of Go does: without leading zeros.
std::optional<Cidr> ParseStrict(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view bits = text.substr(slash + 1);
  const std::optional<IpAddress> address = ParseIp(text.substr(0, slash));
  unsigned number = 0;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), number);
  if (!address || error != std::errc() || end != bits.data() + bits.size()) return std::nullopt;
  if ((bits.size() > 1 && bits.front() == '0') || number > (address->is_v4() ? 32U : 128U)) return std::nullopt;
  return Cidr{*address, number};
}

meta::Complaints CheckCidr(std::string_view text, bool strictly) {
  if (!ParseCidr(text)) return {"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"};
  if (!strictly) return {};
  const std::optional<Cidr> strict = ParseStrict(text);
  if (!strict) return {"must not have leading 0s in IP or prefix length"};
  if (IsMapped(strict->address)) return {"must not have an IPv4-mapped IPv6 address"};
  if (strict->address != strict->Network()) return {"must not have bits set beyond the prefix length"};
  return {};
}

}  // namespace

IpAddress Cidr::Network() const {
  if (address.is_v4()) return address_v4(Masked(address.to_v4().to_bytes(), bits));
  return address_v6(Masked(address.to_v6().to_bytes(), bits));
}

bool Cidr::Contains(const IpAddress& other) const {
  return other.is_v4() == address.is_v4() && Cidr{other, bits}.Network() == Network();
}

std::string Cidr::ToString() const { return fmt::format("{}/{}", ToText(Network()), bits); }

std::optional<Cidr> ParseCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<IpAddress> address = ParseIpWithLeadingZeros(text.substr(0, slash));
  const std::string_view bits = text.substr(slash + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), number);
  if (!address || error != std::errc() || end != bits.data() + bits.size()) return std::nullopt;
  const bool mapped = IsMapped(*address);
  if (number > (address->is_v4() ? 32U : 128U)) return std::nullopt;
  // As in Go, the network of a mapped address with a prefix of at least 96 bits is an IPv4 network.
  if (mapped && number >= 96)
    return Cidr{address_v4(boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address->to_v6())),
                number - 96};
  return Cidr{*address, number};
}

meta::Complaints CheckCidr(std::string_view text) {
  return CheckCidr(text, ActiveRuleFeatures().strict_ip_cidr_validation);
}

meta::Complaints CheckCanonicalCidr(std::string_view text) {
  meta::Complaints complaints = CheckCidr(text, true);
  if (!complaints.empty()) return complaints;
  const std::string canonical = ParseCidr(text)->ToString();
  if (canonical != text) complaints.push_back(fmt::format("must be in canonical form ({})", meta::Quoted(canonical)));
  return complaints;
}

std::vector<std::string> CidrWarnings(const meta::Path& path, std::string_view text) {
  const std::optional<Cidr> cidr = ParseCidr(text);
  if (!cidr) return {};
  std::vector<std::string> warnings;
  if (cidr->address != cidr->Network()) {
    const Cidr single{cidr->address, cidr->address.is_v4() ? 32U : 128U};
    warnings.push_back(fmt::format("{}: CIDR value {} is ambiguous in this context (should be {} or {}?)",
                                   path.ToString(), meta::Quoted(text), meta::Quoted(cidr->ToString()),
                                   meta::Quoted(single.ToString())));
  }
  const std::optional<Cidr> strict = ParseStrict(text);
  if (!strict || IsMapped(strict->address)) {
    warnings.push_back(fmt::format("{}: non-standard CIDR value {} is invalid: use {}", path.ToString(),
                                   meta::Quoted(text), meta::Quoted(cidr->ToString())));
  }
  if (!warnings.empty() || !strict || strict->address.is_v4()) return warnings;
  if (const std::string canonical = strict->ToString(); canonical != text) {
    warnings.push_back(fmt::format("{}: IPv6 CIDR value {} should be in RFC 5952 canonical format ({})",
                                   path.ToString(), meta::Quoted(text), meta::Quoted(canonical)));
  }
  return warnings;
}

std::vector<std::string> IpWarnings(const meta::Path& path, std::string_view text) {
  const std::optional<IpAddress> sloppy = ParseIpWithLeadingZeros(text);
  if (!sloppy) return {};
  const std::optional<IpAddress> strict = ParseIp(text);
  if (!strict || IsMapped(*strict)) {
    return {fmt::format("{}: non-standard IP address {} is invalid: use {}", path.ToString(), meta::Quoted(text),
                        meta::Quoted(ToText(IsMapped(*sloppy) ? Unmap(*sloppy) : *sloppy)))};
  }
  if (strict->is_v4() || ToText(*strict) == text) return {};
  return {fmt::format("{}: IPv6 address {} should be in RFC 5952 canonical format ({})", path.ToString(),
                      meta::Quoted(text), meta::Quoted(ToText(*strict)))};
}

}  // namespace apimesh::core_api
