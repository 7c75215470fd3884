#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/grpc/channel.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::mesh {

/// Keeps one Describe stream to a server open until it is stopped, and reopens the stream when it breaks.
class DescribeLoop : public std::enable_shared_from_this<DescribeLoop> {
 public:
  using Changed = std::function<void(std::optional<Description>)>;

  /// Destroying the returned handle stops the loop; `changed` is not called after that.
  static std::shared_ptr<void> Start(std::shared_ptr<grpc::Channel> channel, boost::asio::any_io_executor executor,
                                     Changed changed);
  explicit DescribeLoop(Changed changed) : changed_(std::move(changed)) {}

 private:
  static Task<> Run(std::shared_ptr<DescribeLoop> self, std::shared_ptr<grpc::Channel> channel);
  Task<> Follow(std::shared_ptr<grpc::Channel> channel);
  bool Wanted();
  void Stop();
  void Report(std::optional<Description> description);

  std::recursive_mutex report_mutex_;  // held during `changed_`, which may drop the handle
  Changed changed_;                    // guarded by report_mutex_; empty after Stop()
  bool known_ = false;                 // guarded by report_mutex_; whether the last report was a description
  std::mutex mutex_;
  std::function<void()> cancel_;  // guarded by mutex_; ends the open stream
};

}  // namespace apimesh::mesh
