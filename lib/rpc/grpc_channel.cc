#include "lib/rpc/grpc_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "lib/rpc/grpc_settings.h"
#include "lib/rpc/grpc_tls.h"

namespace apimesh::rpc {
namespace {

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  for (const auto& [name, value] : SharedSettings()) arguments.SetInt(name, value);
  arguments.SetLoadBalancingPolicyName("round_robin");
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // Despite its name this is the time-out of one attempt, TLS handshake included.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 20);
  return arguments;
}

}  // namespace

std::shared_ptr<grpc::Channel> NewChannel(const Endpoint& endpoint) {
  const bool local = endpoint.target.starts_with("unix:");
  const CertificateFiles files{endpoint.ca_file, endpoint.cert_file, endpoint.key_file};
  if (!local) RequireFiles(files, "connecting to " + endpoint.target);
  const auto credentials = local ? grpc::InsecureChannelCredentials() : MeshChannelCredentials(files);
  return grpc::CreateCustomChannel(endpoint.target, credentials, Arguments());
}

}  // namespace apimesh::rpc
