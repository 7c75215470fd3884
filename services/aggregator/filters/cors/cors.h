#pragma once

#include <string>
#include <vector>

#include "lib/flags/binder.h"
#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

struct CorsOptions {
  std::vector<std::string> allowed_origins;

  CorsOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("cors-allowed-origins", allowed_origins); }
};

/// Answers the preflight requests of browsers, and adds the CORS headers for the allowed origins.
std::shared_ptr<Filter> MakeCors(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
