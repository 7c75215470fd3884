#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <mutex>
#include <string>

#include "lib/base/task.h"
#include "lib/segment/view.h"

namespace apimesh::rpc {

/// The memory of the server that was described last, as far as it can be read from here. Thread-safe.
class NeighbourMemory {
 public:
  /// `name` as in the description; empty: it has none. `executor` gives back pages that were read and no longer are.
  static void Follow(const std::shared_ptr<NeighbourMemory>& self, const boost::asio::any_io_executor& executor, const std::string& name);
  /// nullptr: there is none.
  std::shared_ptr<const segment::View> View() const;

 private:
  static Task<> ForgetUnused(std::weak_ptr<const segment::View> view);

  mutable std::mutex mutex_;
  std::string name_;                            // guarded by mutex_, as all below
  std::shared_ptr<const segment::View> view_;
};

}  // namespace apimesh::rpc
