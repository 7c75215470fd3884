#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/objects/objects.h"
#include "lib/features/feature_gates.h"
#include "lib/flags/option_set.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/service/metrics.h"
#include "services/aggregator/filters/filter.h"

namespace apimesh::aggregator {

class Auditor;
class Lifecycle;
class AuthMetrics;
class Pages;
class RequestMetrics;
class RouteTable;

/// The inputs of a filter's factory. The factory returns nullptr if the options do not enable the filter, and throws
/// std::runtime_error if they are invalid.
struct FilterInputs {
  const flags::OptionSet& options;
  const features::FeatureGates features;
  std::shared_ptr<Lifecycle> lifecycle;
  std::shared_ptr<Authority> authority;
  std::shared_ptr<Auditor> auditor;  // null: no audit
  std::shared_ptr<RequestMetrics> metrics;
  std::shared_ptr<AuthMetrics> auth_metrics;
  std::shared_ptr<RouteTable> routes;
  std::shared_ptr<Pages> pages;                    // for diagnosis; a filter may add its own
  admission::ObjectsPtr objects;                   // reads objects of any resource
  std::shared_ptr<mesh::DelegateClient> core_api;  // for requests of the filter itself
  service::Metrics& process_metrics;               // for metrics of the filter itself
  boost::asio::any_io_executor executor;           // runs the work of the filter that belongs to no request
  /// Adds a post-start hook that is complete when `done` returns true; it must be cheap, because it is called often.
  std::function<void(std::string name, std::function<bool()> done)> add_hook;
  const Clock& clock;

  /// The options that the filter's folder declares.
  template <class Options>
  const Options& Get() const {
    return options.Get<Options>();
  }
};

}  // namespace apimesh::aggregator
