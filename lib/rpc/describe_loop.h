#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "lib/base/wakeup.h"
#include "lib/h2/channel.h"
#include "lib/rpc/delegate.h"

namespace apimesh::rpc {

/// Keeps one Describe stream to a server open for as long as it is not stopped, and begins it again when it breaks.
class DescribeLoop : public std::enable_shared_from_this<DescribeLoop> {
 public:
  using Changed = std::function<void(std::optional<Description>)>;

  /// The returned handle stops the loop; no `changed` begins after it is destroyed.
  static std::shared_ptr<void> Start(std::shared_ptr<h2::Channel> channel, boost::asio::any_io_executor executor, Changed changed);
  explicit DescribeLoop(Changed changed) : changed_(std::move(changed)) {}

 private:
  static Task<> Run(std::shared_ptr<DescribeLoop> self, std::shared_ptr<h2::Channel> channel);
  Task<> Follow(std::shared_ptr<h2::Channel> channel);
  bool Wanted();
  void Stop();
  void Report(std::optional<Description> description);

  std::recursive_mutex report_mutex_;  // held during `changed_`, which may drop the handle
  Changed changed_;                    // guarded by report_mutex_; empty: stopped
  bool known_ = false;                 // guarded by report_mutex_: the last report was a description
  std::mutex mutex_;
  std::function<void()> cancel_;  // guarded by mutex_: ends the open stream
};

}  // namespace apimesh::rpc
