#include "services/launcher/inspect/port_owner.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;

bool CanListen(const std::string& address, int port) {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return true;
  const int on = 1;
  ::setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // connections that have ended are no obstacle
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &at.sin_addr);
  const bool taken = ::bind(file, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno == EADDRINUSE;
  ::close(file);
  return !taken;
}

/// Returns the inodes of the sockets that listen on a port, as /proc shows them in links: "socket:[17]".
std::set<std::string> ListeningSockets(int port) {
  std::set<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      unsigned local = 0, state = 0;
      unsigned long inode = 0;
      constexpr unsigned kListen = 10;
      if (std::sscanf(line.c_str(), " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*d %lu", &local,
                      &state, &inode) == 3 &&
          static_cast<int>(local) == port && state == kListen) {
        found.insert(fmt::format("socket:[{}]", inode));
      }
    }
  }
  return found;
}

bool HasOneOf(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator file(process / "fd", error), end; !error && file != end; file.increment(error)) {
    std::error_code unreadable;
    if (sockets.contains(fs::read_symlink(file->path(), unreadable).string())) return true;
  }
  return false;
}

}  // namespace

std::string PortOwner::Describe() const { return pid ? fmt::format("{} (pid {})", name, pid) : "another process"; }

std::optional<PortOwner> FindPortOwner(const std::string& address, int port) {
  if (CanListen(address, port)) return std::nullopt;
  const std::set<std::string> sockets = ListeningSockets(port);
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
    const int pid = std::atoi(process->path().filename().c_str());
    if (pid == 0 || !HasOneOf(process->path(), sockets)) continue;
    PortOwner owner{pid, ""};
    std::ifstream(process->path() / "comm") >> owner.name;
    return owner;
  }
  return PortOwner();
}

}  // namespace apimesh::launcher
