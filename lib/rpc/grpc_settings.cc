#include "lib/rpc/grpc_settings.h"

#include <absl/synchronization/mutex.h>
#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <memory>

namespace apimesh::rpc {
namespace {

/// gRPC ends its callback threads with the last channel or server that uses them, and aborts if one of those threads is
/// the one to let go of it, as the end of a call may be. A channel that lives as long as the process prevents that; it
/// takes its share of the threads with its first call, which fails at once.
void KeepCallbackThreads() {
  struct Call {
    grpc::ClientContext context;
    grpc::Slice nothing{"-"};
    grpc::ByteBuffer request{&nothing, 1}, response;
  };
  static const auto* const channel = new std::shared_ptr<grpc::Channel>(
      grpc::CreateChannel("unix:/dev/null", grpc::InsecureChannelCredentials()));
  auto call = std::make_shared<Call>();
  grpc::GenericStub(*channel).UnaryCall(&call->context, "/none", {}, &call->request, &call->response,
                                        [call](const grpc::Status&) {});
}

}  // namespace

std::vector<std::pair<std::string, int>> SharedSettings() {
  // Debian builds Abseil with the lock-order checker on; it costs on every lock that gRPC takes.
  static const bool once = [] {
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    KeepCallbackThreads();
    return true;
  }();
  (void)once;
  return {
      // No compression, message size, idle and age filters on the way of each call: the mesh uses none of them.
      // Deadlines are a filter too, and we do need that one.
      {GRPC_ARG_MINIMAL_STACK, 1},
      {GRPC_ARG_ENABLE_DEADLINE_CHECKS, 1},
      {GRPC_ARG_ENABLE_CHANNELZ, 0},
      // A dead peer is noticed within half a minute, also with nothing else to say.
      {GRPC_ARG_KEEPALIVE_TIME_MS, 20'000},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000},
      {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
      // A slow reader of a stream holds its window and no more: the window must not grow by itself.
      {GRPC_ARG_HTTP2_BDP_PROBE, 0},
      {GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1},
  };
}

}  // namespace apimesh::rpc
