#include "services/core-api/groups/ip_rules.h"

#include <boost/asio/ip/address.hpp>

namespace apimesh::core_api {
namespace {

using boost::asio::ip::address;

std::optional<address> Parse(std::string_view text) {
  boost::system::error_code error;
  address parsed = boost::asio::ip::make_address(std::string(text), error);
  if (error || text.find('%') != std::string_view::npos) return std::nullopt;
  return parsed;
}

bool IsLinkLocalUnicast(const address& ip) {
  if (ip.is_v6()) return ip.to_v6().is_link_local();
  const auto bytes = ip.to_v4().to_bytes();
  return bytes[0] == 169 && bytes[1] == 254;
}

bool IsLinkLocalMulticast(const address& ip) {
  if (ip.is_v6()) return ip.to_v6().is_multicast_link_local();
  const auto bytes = ip.to_v4().to_bytes();
  return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
}

}  // namespace

meta::Complaints CheckIp(std::string_view text) {
  if (Parse(text)) return {};
  return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
}

meta::Complaints CheckEndpointIp(std::string_view text) {
  const std::optional<address> ip = Parse(text);
  if (!ip) return CheckIp(text);
  meta::Complaints complaints;
  if (ip->is_unspecified()) complaints.push_back("may not be unspecified (0.0.0.0 or ::)");
  if (ip->is_loopback()) complaints.push_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (IsLinkLocalUnicast(*ip)) complaints.push_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (IsLinkLocalMulticast(*ip)) complaints.push_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  return complaints;
}

}  // namespace apimesh::core_api
