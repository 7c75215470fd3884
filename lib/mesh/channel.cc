#include "lib/mesh/channel.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

namespace apimesh::mesh {
namespace {

/// A process that is stopped or stuck is detected after two to three of these intervals. Its open calls then fail, and
/// later calls fail at once until it responds. Large requests have their own thread, so that a process that works
/// answers a PING much sooner.
constexpr std::chrono::seconds kKeepalive{2};

}  // namespace

std::shared_ptr<grpc::Channel> NewChannel(const Endpoint& endpoint, const Clock& clock) {
  grpc::ChannelOptions options{.clock = clock};
  options.target = endpoint.target;
  options.tls = !endpoint.target.starts_with("unix:");
  options.tls_files.ca_file = endpoint.ca_file;
  options.tls_files.cert_file = endpoint.cert_file;
  options.tls_files.key_file = endpoint.key_file;
  options.tls_files.protocol = "h2";
  options.keepalive = kKeepalive;
  options.tls_files.server_uri = endpoint.identity;
  for (const std::string& file : {endpoint.ca_file, endpoint.cert_file, endpoint.key_file}) {
    if (!options.tls || std::filesystem::exists(file)) continue;
    throw std::runtime_error(fmt::format("connecting to {} needs mesh certificates, and the file \"{}\" is not there",
                                         endpoint.target, file));
  }
  if (options.tls && endpoint.identity.empty()) {
    throw std::runtime_error(fmt::format("connecting to {} needs the identity of the server", endpoint.target));
  }
  return grpc::Channel::New(std::move(options));
}

}  // namespace apimesh::mesh
