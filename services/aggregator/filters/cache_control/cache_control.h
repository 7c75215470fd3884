#pragma once

#include <string>
#include <vector>

#include "lib/flags/binder.h"
#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

struct CacheControlOptions {
  std::vector<std::string> hsts_directives;

  CacheControlOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("strict-transport-security-directives", hsts_directives); }
};

/// Sets Cache-Control, so that no cache keeps an answer, and Strict-Transport-Security if it is configured.
std::shared_ptr<Filter> MakeCacheControl(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
