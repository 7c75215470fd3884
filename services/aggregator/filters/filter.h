#pragma once

#include <memory>
#include <vector>

#include "lib/base/task.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

class Next;

/// One step of the way of every request. It answers, or calls `next` and may look at the outcome afterwards.
/// Filters are shared by all io threads: they keep no state of a request, and what else they keep is thread-safe.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual Task<> Handle(Exchange& exchange, Next next) = 0;
};
using Filters = std::vector<std::shared_ptr<Filter>>;

/// The rest of the way.
class Next {
 public:
  Next(const Filters& filters, std::size_t index) : filters_(&filters), index_(index) {}
  Task<> operator()(Exchange& exchange) const { return (*filters_)[index_]->Handle(exchange, Next(*filters_, index_ + 1)); }

 private:
  const Filters* filters_;
  std::size_t index_;
};

/// Runs the whole list. The last filter answers.
inline Task<> RunFilters(const Filters& filters, Exchange& exchange) { return Next(filters, 0)(exchange); }

}  // namespace apimesh::aggregator
