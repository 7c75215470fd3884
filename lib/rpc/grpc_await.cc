#include "lib/rpc/grpc_await.h"

#include <string_view>

namespace apimesh::rpc {

// steady_clock and gRPC's monotonic clock are both CLOCK_MONOTONIC, so only the form differs.
gpr_timespec ToDeadline(SteadyTime deadline) {
  if (deadline == SteadyTime::max()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  const auto since = deadline.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  gpr_timespec spec;
  spec.tv_sec = seconds.count();
  spec.tv_nsec = static_cast<std::int32_t>(std::chrono::nanoseconds(since - seconds).count());
  spec.clock_type = GPR_CLOCK_MONOTONIC;
  return spec;
}

SteadyTime FromDeadline(gpr_timespec deadline) {
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) return SteadyTime::max();
  const gpr_timespec spec = gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC);
  return SteadyTime(std::chrono::seconds(spec.tv_sec) + std::chrono::nanoseconds(spec.tv_nsec));
}

void Prepare(grpc::ClientContext& context, const CallOptions& options) {
  if (options.deadline != SteadyTime::max()) context.set_deadline(ToDeadline(options.deadline));
  context.set_wait_for_ready(options.wait_for_ready);
  for (const auto& [name, value] : options.metadata) context.AddMetadata(name, value);
}

bool NothingWasSent(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return false;
  // The texts of gRPC's resolver and load balancing policies, which refuse a call before any connection has it. gRPC
  // says it no other way; a text we do not know counts as sent, which is the safe side.
  static constexpr std::string_view kBeforeAnyConnection[] = {
      "failed to connect to all addresses", "connections to all backends failing", "DNS resolution failed",
      "empty address list"};
  for (const std::string_view text : kBeforeAnyConnection) {
    if (std::string_view(status.error_message()).starts_with(text)) return true;
  }
  return false;
}

}  // namespace apimesh::rpc
