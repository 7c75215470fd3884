#include "lib/rpc/grpc_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "lib/rpc/grpc_tls.h"

namespace apimesh::rpc {
namespace {

grpc::ChannelArguments Arguments(bool own_connection) {
  grpc::ChannelArguments arguments;
  arguments.SetLoadBalancingPolicyName("round_robin");
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  // A slow reader of a stream holds this much, and no more: the window must not grow by itself.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 20);
  if (own_connection) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return arguments;
}

}  // namespace

std::shared_ptr<grpc::Channel> NewChannel(const Endpoint& endpoint, bool own_connection) {
  const auto credentials =
      endpoint.target.starts_with("unix:")
          ? grpc::InsecureChannelCredentials()
          : MeshChannelCredentials({endpoint.ca_file, endpoint.cert_file, endpoint.key_file});
  return grpc::CreateCustomChannel(endpoint.target, credentials, Arguments(own_connection));
}

}  // namespace apimesh::rpc
