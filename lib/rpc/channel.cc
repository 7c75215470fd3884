#include "lib/rpc/channel.h"

namespace apimesh::rpc {

std::shared_ptr<h2::Channel> NewChannel(const Endpoint& endpoint) {
  h2::ChannelOptions options;
  options.target = endpoint.target;
  options.tls = !endpoint.target.starts_with("unix:");
  options.tls_files.ca_file = endpoint.ca_file;
  options.tls_files.cert_file = endpoint.cert_file;
  options.tls_files.key_file = endpoint.key_file;
  options.tls_files.protocol = "h2";
  return h2::Channel::New(std::move(options));
}

}  // namespace apimesh::rpc
