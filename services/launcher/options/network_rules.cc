// Rules for the addresses of this server and of services, and for node ports.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/advertise_address.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

constexpr int kSmallestRange = 8;

struct Cidr {
  std::array<unsigned char, 16> address{};
  int bits = 0;  // 32 or 128
  int prefix = 0;

  /// Returns the network in CIDR notation, such as "10.0.0.0/24".
  std::string ToString() const {
    std::array<unsigned char, 16> network{};
    for (int i = 0; i < bits / 8; ++i) {
      const int kept = std::clamp(prefix - 8 * i, 0, 8);
      network[static_cast<std::size_t>(i)] =
          static_cast<unsigned char>(address[static_cast<std::size_t>(i)] & (0xff00 >> kept));
    }
    char text[INET6_ADDRSTRLEN];
    ::inet_ntop(bits == 32 ? AF_INET : AF_INET6, network.data(), text, sizeof text);
    return fmt::format("{}/{}", text, prefix);
  }
};

std::optional<Cidr> ParseCidr(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  Cidr cidr;
  const std::string address = text.substr(0, slash);
  if (::inet_pton(AF_INET, address.c_str(), cidr.address.data()) == 1)
    cidr.bits = 32;
  else if (::inet_pton(AF_INET6, address.c_str(), cidr.address.data()) == 1)
    cidr.bits = 128;
  else
    return std::nullopt;
  const char* end_of_text = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + slash + 1, end_of_text, cidr.prefix);
  if (error != std::errc() || end != end_of_text || cidr.prefix < 0 || cidr.prefix > cidr.bits) return std::nullopt;
  return cidr;
}

/// Returns whether the range has room for the services that every cluster has. Ranges that contain nearly all addresses
/// are refused as well.
bool IsLargeEnough(const Cidr& cidr) {
  const int host_bits = cidr.bits - cidr.prefix;
  return host_bits < cidr.bits - 1 && host_bits >= 3;
}

std::vector<std::string> ServiceRanges(const CommandLine& flags) {
  return SplitList(flags.Value("service-cluster-ip-range"));
}

bool IsIpv4(const std::string& address) { return address.find(':') == address.npos; }

}  // namespace

void CompleteServiceRanges(const CommandLine& flags, Findings& findings) {
  const std::vector<std::string> ranges = ServiceRanges(flags);
  const std::optional<Cidr> primary = ParseCidr(ranges[0]);
  if (!primary) {
    findings.errors.push_back("service-cluster-ip-range[0] is not a valid cidr");
  } else if (!IsLargeEnough(*primary)) {
    findings.errors.push_back(fmt::format(
        "error determining service IP ranges for primary service cidr: the service cluster IP range must be at least "
        "{} IP addresses",
        kSmallestRange));
  } else if (ranges.size() > 1 && !ParseCidr(ranges[1])) {
    findings.errors.push_back("service-cluster-ip-range[1] is not an ip net");
  }
  if (!flags.Has("service-cluster-ip-range")) {
    findings.warnings.push_back(
        "no CIDR for service cluster IPs was specified with --service-cluster-ip-range; using " +
        flags.Value("service-cluster-ip-range"));
  }
}

void ValidateServiceRanges(const CommandLine& flags, Findings& findings) {
  const std::vector<std::string> ranges = ServiceRanges(flags);
  if (ranges.size() > 2) findings.errors.push_back("--service-cluster-ip-range must not contain more than two entries");
  if (ranges.size() > 1 && ParseCidr(ranges[0])->bits == ParseCidr(ranges[1])->bits) {
    findings.errors.push_back(
        "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different "
        "IP family");
  }
}

void ValidateNodePort(const CommandLine& flags, Findings& findings) {
  const int port = IntOf(flags, "kubernetes-service-node-port");
  if (port < 0 || port > 65535) {
    findings.errors.push_back(fmt::format(
        "--kubernetes-service-node-port {} must be between 0 and 65535, inclusive. If 0, the Kubernetes master "
        "service will be of type ClusterIP",
        port));
  }
  const PortRange range = ParsePortRange(flags.Value("service-node-port-range")).value_or(PortRange());
  if (port > 0 && (port < range.low || port > range.high)) {
    findings.errors.push_back(
        fmt::format("kubernetes service node port range {}-{} doesn't contain {}", range.low, range.high, port));
  }
}

void ApplyEndpointReconciler(const CommandLine& flags, Findings& findings) {
  const std::string type = flags.Value("endpoint-reconciler-type");
  if (type.empty() || type == "lease" || type == "master-count" || type == "none") return;
  findings.errors.push_back(fmt::format("unknown endpoint reconciler type: {}", type));
}

void ValidateAddressFamilies(const CommandLine& flags, Findings& findings) {
  if (flags.Value("endpoint-reconciler-type") == "none") return;
  const Cidr primary = *ParseCidr(ServiceRanges(flags)[0]);
  const std::string address = AdvertiseAddress(flags);
  if ((primary.bits == 32) == IsIpv4(address)) return;
  findings.errors.push_back(
      fmt::format("service IP family \"{}\" must match public address family \"{}\"", primary.ToString(), address));
}

}  // namespace apimesh::launcher
