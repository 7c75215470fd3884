#pragma once

#include <string>

#include "lib/flags/binder.h"
#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

struct GoawayOptions {
  std::string chance;  // the launcher has checked its range

  GoawayOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("goaway-chance", chance); }
};

/// Sends a GOAWAY with the responses to some requests over HTTP/2, chosen at random.
std::shared_ptr<Filter> MakeGoaway(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
