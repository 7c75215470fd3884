#pragma once

#include <memory>
#include <vector>

#include "lib/base/async/task.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

class Next;

/// One step in the processing of every request. A filter either answers the request, or calls `next` and may inspect
/// the outcome afterwards.
/// Filters are shared by all I/O threads. They hold no state of individual requests, and all other state is
/// thread-safe.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual Task<> Handle(Exchange& exchange, Next next) = 0;
};
using Filters = std::vector<std::shared_ptr<Filter>>;

/// The remaining filters.
class Next {
 public:
  Next(const Filters& filters, std::size_t index) : filters_(&filters), index_(index) {}
  Task<> operator()(Exchange& exchange) const {
    return (*filters_)[index_]->Handle(exchange, Next(*filters_, index_ + 1));
  }

 private:
  const Filters* filters_;
  std::size_t index_;
};

/// Runs all filters. The last one answers the request.
inline Task<> RunFilters(const Filters& filters, Exchange& exchange) { return Next(filters, 0)(exchange); }

}  // namespace apimesh::aggregator
