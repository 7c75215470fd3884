#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/shared_memory/view.h"

namespace apimesh::mesh {

/// The shared memory of the peer process that was described last, if this process can map it. Thread-safe.
class PeerMemory {
 public:
  /// Maps the segment `name` of the description; empty: the server has none. `executor` periodically releases pages
  /// that are no longer used.
  static void Follow(const std::shared_ptr<PeerMemory>& self, const boost::asio::any_io_executor& executor,
                     const std::string& name);
  /// nullptr if there is none.
  std::shared_ptr<const shared_memory::View> View() const;

 private:
  static Task<> ForgetUnused(std::weak_ptr<const shared_memory::View> view);

  mutable std::mutex mutex_;
  std::string name_;  // guarded by mutex_, as all below
  std::shared_ptr<const shared_memory::View> view_;
};

}  // namespace apimesh::mesh
