#pragma once

#include "lib/flags/binder.h"
#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// 0: no limit.
struct MaxInFlightOptions {
  int reads, writes;

  MaxInFlightOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("max-requests-inflight", reads);
    flags.Bind("max-mutating-requests-inflight", writes);
  }
};

std::shared_ptr<Filter> MakeMaxInFlight(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
