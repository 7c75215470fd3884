#include "services/launcher/inspect/port_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/launcher/inspect/probe.h"

namespace apimesh::launcher {
namespace {

TEST(PortOwner, IsTheProcessThatListens) {
  const int port = FreePort();
  EXPECT_FALSE(FindPortOwner("127.0.0.1", port));

  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(file, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(file, 1), 0);
  for (const char* address : {"127.0.0.1", "0.0.0.0"}) {
    const std::optional<PortOwner> owner = FindPortOwner(address, port);
    ASSERT_TRUE(owner) << address;
    EXPECT_EQ(owner->pid, ::getpid());
    EXPECT_NE(owner->Describe().find("apimesh"), std::string::npos) << owner->Describe();
  }
  ::close(file);
}

}  // namespace
}  // namespace apimesh::launcher
