#pragma once

#include <memory>

#include "lib/base/async/task.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/service/auth_client.h"
#include "lib/service/runtime.h"
#include "lib/storage/store.h"
#include "services/aggregator/auth/authority.h"
#include "services/aggregator/delegation/shards_file.h"
#include "services/aggregator/options.h"

namespace apimesh::aggregator {

/// The processes that the edge calls. Tests use fakes.
struct Peers {
  std::shared_ptr<mesh::DelegateClient> core_api, extensions_api;
  std::shared_ptr<Authority> authority;
  /// Reports invalidations and runs forever; see service::GrpcAuthority.
  std::function<Task<>(InvalidationFn report)> watch_invalidations;
  /// More servers of built-in groups that core_api does not serve, by name.
  std::vector<std::pair<std::string, std::shared_ptr<mesh::DelegateClient>>> shards = {};
  /// Connects to a shard of Options::shards_file.
  ShardsFile::Connect connect_shard = nullptr;
  /// Stores the APIServices; nullptr: the kind is not served.
  storage::StorePtr api_services = nullptr;
  service::AuthClientPtr auth = nullptr;  // required with `api_services`
};
Peers GrpcPeers(const Options& options, service::Runtime& runtime);

/// The aggregator. It listens from construction on; the constructor throws std::runtime_error if it can't.
class AggregatorServer {
 public:
  AggregatorServer(const Options& options, Peers peers, service::Runtime& runtime);
  ~AggregatorServer();

  int Port() const;
  int MeshPort() const;  // 0 if there is none
  /// Rejects new requests, ends watches and waits for all other requests, at most until `limit`. Blocks, so it must not
  /// be called on an I/O thread.
  void Drain(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs the service until a signal ends it, then exits the process. Throws if the service can't start.
[[noreturn]] void Run(const Options& options, const Clock& clock);

}  // namespace apimesh::aggregator
