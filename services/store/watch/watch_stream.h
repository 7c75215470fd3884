#pragma once

#include <map>
#include <memory>

#include "services/store/net/call.h"
#include "services/store/watch/watch_hub.h"
#include "services/store/watch/watcher.h"

namespace etcdserverpb {
class WatchCreateRequest;
}

namespace apimesh::store {

/// One Watch call: any number of watchers, their control messages and progress notifications. Must be used on the loop
/// thread only.
class WatchStream final : public CallHandler {
 public:
  WatchStream(WatchHub& hub, CallPtr call);
  ~WatchStream() override;

  // CallHandler
  void OnMessage(std::string_view message) override;
  void OnHalfClose() override;
  void OnDrained() override;

  // Called by the hub.
  void Send(std::string response) { call_->Send(std::move(response)); }
  bool AboveHighWatermark() const { return call_->AboveHighWatermark(); }
  void CancelCompacted(std::int64_t id, Revision compacted);
  void OnWatcherSynced();
  void NotifyQuietWatchers();

 private:
  void Create(const etcdserverpb::WatchCreateRequest& request);
  void Cancel(std::int64_t id);
  void RequestProgress();
  void SendProgress(std::int64_t id);
  void Control(std::int64_t id, bool created, bool canceled, Revision compacted, std::string_view reason);

  WatchHub& hub_;
  CallPtr call_;
  std::map<std::int64_t, std::unique_ptr<Watcher>> watchers_;
  std::int64_t next_id_ = 0;
  bool progress_wanted_ = false;
};

}  // namespace apimesh::store
