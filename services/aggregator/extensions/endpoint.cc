#include "services/aggregator/extensions/endpoint.h"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/ip_address.h"
#include "lib/meta/names.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kUnix = "unix:";

/// Splits "host:port" and "[2001:db8::1]:port".
bool SplitHost(std::string_view text, std::string& host, std::string_view& port) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  host = text.substr(0, colon);
  port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    return host.find(':') != std::string::npos;
  }
  return host.find(':') == std::string::npos;
}

std::string RefuseSocket(const std::string& path, const std::vector<std::string>& own_folders) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return fmt::format("connect unix:{}: {}", path, error.message());
  const std::string folder = real.parent_path().string();
  struct stat socket{}, parent{};
  if (::lstat(real.c_str(), &socket) != 0 || !S_ISSOCK(socket.st_mode)) return fmt::format("{} is not a socket", path);
  if (::stat(folder.c_str(), &parent) != 0) return fmt::format("the folder of {} can't be read", path);
  const uid_t self = ::geteuid();
  if (socket.st_uid != self || parent.st_uid != self)
    return fmt::format("{} and its folder must belong to the user of the aggregator", path);
  if ((parent.st_mode & 077) != 0)
    return fmt::format("the folder of {} must have mode 0700: other users can enter it", path);
  for (const std::string& own : own_folders) {
    if (std::filesystem::equivalent(own, folder, error)) return fmt::format("{} is in a folder of the mesh", path);
  }
  return "";
}

}  // namespace

std::string EndpointOf(const meta::Object& api_service) {
  return std::string(meta::FindString(api_service.Metadata(), "annotations", kEndpointAnnotation));
}

bool IsSocket(std::string_view endpoint) { return endpoint.starts_with(kUnix); }

std::string CheckEndpoint(std::string_view endpoint) {
  constexpr const char* kForms = "must be \"unix:/path\" or \"host:port\"";
  if (IsSocket(endpoint)) {
    const std::string_view path = endpoint.substr(kUnix.size());
    if (!path.starts_with('/')) return kForms;
    // Targets are separated by commas.
    if (path.find(',') != std::string_view::npos) return "must not contain a comma";
    if (path.size() >= sizeof(sockaddr_un::sun_path)) return "the path of a socket has at most 107 bytes";
    return "";
  }
  std::string host;
  std::string_view port;
  if (!SplitHost(endpoint, host, port)) return kForms;
  if (!ParseIp(host) && !meta::CheckDnsSubdomain(host).empty()) return kForms;
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_port = failure == std::errc() && end == port.data() + port.size() && number > 0 && number < 65536;
  return is_port ? "" : kForms;
}

std::string RefuseAddress(const std::string& address, const std::vector<std::string>& own_folders) {
  if (IsSocket(address)) return RefuseSocket(address.substr(kUnix.size()), own_folders);
  std::string host;
  std::string_view port;
  const std::optional<IpAddress> ip = SplitHost(address, host, port) ? ParseIp(host) : std::nullopt;
  if (ip && IsGlobalUnicast(*ip)) return "";
  return fmt::format("the address {} is not allowed: it is loopback, link-local, multicast or unspecified", address);
}

}  // namespace apimesh::aggregator
