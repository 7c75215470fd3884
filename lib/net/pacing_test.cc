#include "lib/net/pacing.h"

#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "lib/net/listen_socket.h"

namespace apimesh::net {
namespace {

sockaddr_storage Address(const char* text) {
  sockaddr_storage address{};
  if (std::strchr(text, ':') != nullptr) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    v6.sin6_family = AF_INET6;
    inet_pton(AF_INET6, text, &v6.sin6_addr);
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    v4.sin_family = AF_INET;
    inet_pton(AF_INET, text, &v4.sin_addr);
  }
  return address;
}

std::string RuleOf(int fd) {
  char name[16] = "";
  socklen_t size = sizeof(name) - 1;
  getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size);
  return name;
}

TEST(IsLocal, ByAddress) {
  struct Case {
    const char *own, *peer;
    bool local;
  };
  for (const Case& c :
       {Case{"127.0.0.1", "127.0.0.1", true}, Case{"10.0.0.5", "10.0.0.5", true}, Case{"10.0.0.5", "10.0.0.6", false},
        Case{"::1", "::1", true}, Case{"::ffff:127.0.0.1", "::ffff:127.0.0.1", true}, Case{"fd00::1", "fd00::1", true},
        Case{"fd00::1", "fd00::2", false}, Case{"::ffff:10.0.0.5", "::ffff:10.0.0.6", false}}) {
    EXPECT_EQ(IsLocal(Address(c.own), Address(c.peer)), c.local) << c.own << " " << c.peer;
  }
}

/// A connection within this machine is never paced; one from another machine uses the system's congestion control.
TEST(Pacing, OnlyAcrossANetwork) {
  const int fresh = ::socket(AF_INET, SOCK_STREAM, 0);
  const std::string system = RuleOf(fresh);
  const ListenSocket listener = OpenListenSocket("127.0.0.1", 0);
  sockaddr_storage to = Address("127.0.0.1");
  reinterpret_cast<sockaddr_in&>(to).sin_port = htons(static_cast<std::uint16_t>(listener.port));
  ASSERT_EQ(::connect(fresh, reinterpret_cast<sockaddr*>(&to), sizeof(sockaddr_in)), 0);
  const AcceptedSocket accepted = AcceptOne(listener.fd);
  ASSERT_GE(accepted.fd, 0);
  EXPECT_EQ(RuleOf(accepted.fd), system.starts_with("bbr") ? "reno" : system);
  PaceUnlessLocal(accepted.fd, Address("192.0.2.1"));
  EXPECT_EQ(RuleOf(accepted.fd), system);
  for (const int fd : {fresh, accepted.fd, listener.fd}) ::close(fd);
}

}  // namespace
}  // namespace apimesh::net
