#include "services/core-api/validation/ip_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/ip_address.h"
#include "lib/meta/errors/field_error.h"
#include "services/core-api/features/rule_features.h"

namespace apimesh::core_api {

namespace {

meta::Complaints CheckIp(std::string_view text, bool strict) {
  const std::optional<IpAddress> sloppy = ParseIpWithLeadingZeros(text);
  if (!sloppy) return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
  if (!strict) return {};
  if (!ParseIp(text)) return {"must not have leading 0s"};
  if (sloppy->is_v6() && sloppy->to_v6().is_v4_mapped()) return {"must not be an IPv4-mapped IPv6 address"};
  return {};
}

}  // namespace

meta::Complaints CheckIp(std::string_view text) {
  return CheckIp(text, ActiveRuleFeatures().strict_ip_cidr_validation);
}

meta::Complaints CheckCanonicalIp(std::string_view text) {
  meta::Complaints complaints = CheckIp(text, true);
  if (!complaints.empty()) return complaints;
  const std::string canonical = ToText(*ParseIp(text));
  if (canonical != text) complaints.push_back(fmt::format("must be in canonical form ({})", meta::Quoted(canonical)));
  return complaints;
}

meta::Complaints CheckEndpointIp(std::string_view text) {
  const std::optional<IpAddress> address = ParseIpWithLeadingZeros(text);
  if (!address) return {"must be a valid IP address"};
  switch (ScopeOf(*address)) {
    case IpScope::kUnspecified: return {fmt::format("may not be unspecified ({})", text)};
    case IpScope::kLoopback: return {"may not be in the loopback range (127.0.0.0/8, ::1/128)"};
    case IpScope::kLinkLocal: return {"may not be in the link-local range (169.254.0.0/16, fe80::/10)"};
    case IpScope::kLinkLocalMulticast:
      return {"may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"};
    // kube-apiserver accepts multicast and broadcast addresses, which do not reach the server's own machine.
    case IpScope::kMulticast:
    case IpScope::kBroadcast:
    case IpScope::kGlobal: break;
  }
  return {};
}

meta::Complaints CheckFullyQualifiedDomainName(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (const meta::Complaints complaints = meta::CheckDnsSubdomain(text); !complaints.empty()) {
    return {fmt::format("{}", fmt::join(complaints, ","))};
  }
  if (std::count(text.begin(), text.end(), '.') < 1)
    return {"should be a domain with at least two segments separated by dots"};
  return {};
}

std::string_view IpFamilyOf(std::string_view text) {
  const std::optional<IpAddress> address = ParseIpWithLeadingZeros(text);
  if (!address) return "";
  return address->is_v4() || address->to_v6().is_v4_mapped() ? "IPv4" : "IPv6";
}

}  // namespace apimesh::core_api
