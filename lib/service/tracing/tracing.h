#pragma once

#include <memory>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/service/metrics.h"
#include "lib/service/tracing/flags.h"

namespace apimesh::service {

/// Tracing of this process from the constructor on, if --tracing-config-file is given.
class Tracing {
 public:
  /// `service` is the name of the process. Throws std::invalid_argument if the configuration is wrong.
  Tracing(std::string_view service, const TracingFlags& flags, Metrics& metrics, const Clock& clock);
  /// Switches tracing off and sends the spans that have ended, for at most 2 s.
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;  // nullptr: off
};

}  // namespace apimesh::service
