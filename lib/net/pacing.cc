#include "lib/net/pacing.h"

#include <string>
#include <string_view>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace apimesh::net {
namespace {

/// The congestion control of a new connection.
std::string ReadSystemRule() {
  char name[16] = "";  // TCP_CA_NAME_MAX
  socklen_t size = sizeof(name) - 1;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size);
  ::close(fd);
  return name;
}

const std::string& SystemRule() {
  static const std::string rule = ReadSystemRule();
  return rule;
}

bool SystemPaces() { return SystemRule().starts_with("bbr"); }

void SetRule(int fd, std::string_view name) {
  setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

}  // namespace

bool IsLocal(const sockaddr_storage& own, const sockaddr_storage& peer) {
  if (peer.ss_family == AF_INET) {
    const in_addr_t address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr.s_addr;
    return ntohl(address) >> 24 == IN_LOOPBACKNET ||
           (own.ss_family == AF_INET && address == reinterpret_cast<const sockaddr_in&>(own).sin_addr.s_addr);
  }
  if (peer.ss_family != AF_INET6) return peer.ss_family == AF_UNIX;
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == IN_LOOPBACKNET) return true;
  return IN6_IS_ADDR_LOOPBACK(&address) ||
         (own.ss_family == AF_INET6 &&
          IN6_ARE_ADDR_EQUAL(&address, &reinterpret_cast<const sockaddr_in6&>(own).sin6_addr));
}

void DoNotPace(int fd) {
  if (SystemPaces()) SetRule(fd, "reno");  // every kernel has it and allows every user to select it
}

void PaceUnlessLocal(int fd, const sockaddr_storage& peer) {
  if (!SystemPaces()) return;
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 && !IsLocal(own, peer)) SetRule(fd, SystemRule());
}

}  // namespace apimesh::net
