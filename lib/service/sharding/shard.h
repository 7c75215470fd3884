#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/mesh/delegate/delegate.h"
#include "lib/service/runtime.h"

namespace apimesh::service {

/// Describes some API groups of a server, from Announce() until Withdraw(). A shard serves groups that another server,
/// the common one, serves too; the aggregator sends their requests to the shard while it describes them. All requests
/// are answered at any time. Thread-safe.
class Shard final : public mesh::DelegateHandler {
 public:
  /// `groups` are names of API groups; "core" is the group without a name.
  Shard(std::shared_ptr<mesh::DelegateHandler> server, std::vector<std::string> groups);

  void Announce();
  /// From now on, the description is empty. Returns whether any client has seen another one.
  bool Withdraw();

  Task<mesh::Response> Call(mesh::Request&& request) override { return server_->Call(std::move(request)); }
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    return server_->Stream(std::move(request), stream);
  }
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override {
    return server_->Connect(std::move(request), std::move(stream));
  }
  /// `changed` is called for the first time when the shard is announced.
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override;

 private:
  enum class State { kHidden, kAnnounced, kWithdrawn };
  struct Listener {
    std::function<void(mesh::Description)> changed;
    mesh::Description newest;
    bool known = false;  // `newest` has been set
  };
  struct Listeners {
    std::mutex mutex;
    State state = State::kHidden;                            // guarded by mutex, as all below
    std::map<std::uint64_t, std::shared_ptr<Listener>> all;  // by number
    std::uint64_t next = 0;
  };

  const std::shared_ptr<mesh::DelegateHandler> server_;
  const std::vector<std::string> groups_;
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
};

/// Returns a handler that serves `server` as a shard: the groups are announced when all other readiness checks of the
/// process pass. When the process stops, they are withdrawn, and requests are served for a moment longer, so that no
/// request is sent to a server that does not listen any more.
std::shared_ptr<mesh::DelegateHandler> ServeAsShard(Runtime& runtime, std::shared_ptr<mesh::DelegateHandler> server,
                                                    std::vector<std::string> groups);

}  // namespace apimesh::service
