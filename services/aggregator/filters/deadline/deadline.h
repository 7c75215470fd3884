#pragma once

#include <chrono>

#include "lib/flags/binder.h"
#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

struct DeadlineOptions {
  std::chrono::milliseconds request_timeout;

  DeadlineOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("request-timeout", request_timeout); }
};

/// Sets the deadline of a request that is not long-running: the timeout that the client asks for, at most
/// --request-timeout.
std::shared_ptr<Filter> MakeDeadline(const FilterInputs& inputs);

/// The error for a request that authn-authz did not answer: 504 if the request's deadline has passed, else 503.
meta::ApiError NotAvailable(const Exchange& exchange, std::string_view what);

}  // namespace apimesh::aggregator
