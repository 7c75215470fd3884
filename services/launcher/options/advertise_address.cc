#include "services/launcher/options/advertise_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include "lib/base/ip_address.h"

namespace apimesh::launcher {

std::string FirstAddress() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "127.0.0.1";
  std::string found = "127.0.0.1";
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
    if (!(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK)) continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text)) {
      found = text;
      break;
    }
  }
  ::freeifaddrs(all);
  return found;
}

std::string AdvertisedAddress(const std::string& bind) {
  const std::optional<IpAddress> address = ParseIp(bind);
  return address && IsGlobalUnicast(*address) ? bind : FirstAddress();
}

std::string AdvertiseAddress(const CommandLine& flags) {
  const std::string address = flags.Value("advertise-address");
  if (!address.empty() && address != "0.0.0.0" && address != "::") return address;
  return AdvertisedAddress(flags.Value("bind-address"));
}

}  // namespace apimesh::launcher
