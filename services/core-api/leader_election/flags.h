#pragma once

#include <chrono>

#include "lib/flags/binder.h"

namespace apimesh::core_api {

/// The times of the lease with which API servers agree on the one that chooses the leaders of components.
struct LeadershipFlags {
  std::chrono::milliseconds lease_duration, renew_deadline, retry_period;

  LeadershipFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("coordinated-leadership-lease-duration", lease_duration);
    flags.Bind("coordinated-leadership-renew-deadline", renew_deadline);
    flags.Bind("coordinated-leadership-retry-period", retry_period);
  }
};

}  // namespace apimesh::core_api
