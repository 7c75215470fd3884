#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "lib/rpc/delegate.h"
#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace apimesh::rpc {

/// Keeps one Describe stream to a server open for as long as it is not stopped, and begins it again when it breaks.
class DescribeLoop : public std::enable_shared_from_this<DescribeLoop> {
 public:
  using Changed = std::function<void(std::optional<Description>)>;

  DescribeLoop(std::shared_ptr<grpc::Channel> channel, Changed changed);
  /// The returned handle stops the loop; no `changed` begins after it is destroyed.
  static std::shared_ptr<void> Start(std::shared_ptr<grpc::Channel> channel, Changed changed);

 private:
  class Reader;
  void Open();
  void Stop();
  void Report(std::optional<Description> description);
  void OnEnd();

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<mesh::v1::Delegate::Stub> stub_;
  std::recursive_mutex report_mutex_;  // held during `changed_`, which may drop the handle
  Changed changed_;                    // guarded by report_mutex_; empty: stopped
  bool known_ = false;                 // guarded by report_mutex_: the last report was a description
  std::mutex mutex_;
  bool stopped_ = false;                  // guarded by mutex_, as all below
  grpc::ClientContext* context_ = nullptr;  // of the open stream
  grpc::Alarm retry_;
};

}  // namespace apimesh::rpc
