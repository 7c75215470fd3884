#pragma once

#include <memory>

#include "lib/base/task.h"
#include "lib/rpc/delegate.h"
#include "lib/service/auth_client.h"
#include "lib/service/runtime.h"
#include "lib/storage/store.h"
#include "services/aggregator/auth/authority.h"
#include "services/aggregator/options.h"

namespace apimesh::aggregator {

/// What the edge talks to; tests put fakes here.
struct Neighbours {
  std::shared_ptr<rpc::DelegateClient> core_api, extensions_api;
  std::shared_ptr<Authority> authority;
  /// Runs for ever, reporting invalidations; see GrpcAuthority.
  std::function<Task<>(InvalidationFn report)> watch_invalidations;
  /// More servers of built-in groups, by name, for those that core_api does not serve.
  std::vector<std::pair<std::string, std::shared_ptr<rpc::DelegateClient>>> shards = {};
  /// Where APIServices are kept; nullptr: there are none.
  storage::StorePtr api_services = nullptr;
  service::AuthClientPtr auth = nullptr;  // with `api_services`
};
Neighbours GrpcNeighbours(const Options& options, service::Runtime& runtime);

/// The whole service. Listens from construction on; throws std::runtime_error if it can't.
class AggregatorServer {
 public:
  AggregatorServer(const Options& options, Neighbours neighbours, service::Runtime& runtime);
  ~AggregatorServer();

  int Port() const;
  int MeshPort() const;  // 0 without one
  /// No new requests, watches ended, the rest finished, or cut after `limit`. Blocks: not for an I/O thread.
  void Drain(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs the service until a signal ends it, then ends the process. Throws if it can't begin.
[[noreturn]] void Run(const Options& options);

}  // namespace apimesh::aggregator
