#pragma once

#include <memory>

#include "lib/storage/store.h"

namespace apimesh::testing {

/// An in-memory Store. Revisions, preconditions, selectors, pages and watches behave like those of the real store. Each
/// store has its own revision counter. For single-threaded tests.
class FakeStore final : public storage::Store {
 public:
  explicit FakeStore(storage::ResourceConfig config);
  ~FakeStore() override;

  Task<meta::Result<storage::EntryPtr>> Get(meta::RequestContext ctx, storage::Key key,
                                            storage::GetOptions options) override;
  Task<meta::Result<std::unique_ptr<storage::ListCursor>>> List(meta::RequestContext ctx,
                                                                storage::ListOptions options) override;
  Task<meta::Result<std::unique_ptr<storage::Watcher>>> Watch(meta::RequestContext ctx,
                                                              storage::WatchOptions options) override;
  Task<meta::Result<storage::EntryPtr>> Create(meta::RequestContext ctx, storage::Key key, meta::Object object,
                                               std::chrono::seconds ttl) override;
  Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, storage::Key key,
                                                    storage::Preconditions preconditions, bool create_if_missing,
                                                    UpdateFn update) override;
  Task<meta::Result<storage::EntryPtr>> Delete(meta::RequestContext ctx, storage::Key key,
                                               storage::Preconditions preconditions, ValidateFn validate) override;
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, storage::Key key) override;
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) override;
  meta::Result<> Ready() const override { return {}; }

  /// Runs `callback` once, before the next compare-and-swap of a create, update or delete, to simulate a lost race.
  void BeforeNextSwap(std::function<void()> callback);
  /// Makes the next create or update fail with this error. `stored`: the object is written nevertheless.
  void FailNextWrite(meta::ApiError error, bool stored = false);
  /// Stores an object directly, like another writer.
  storage::EntryPtr Put(storage::Key key, meta::Object object);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::testing
