#pragma once

#include "lib/testing/fake_store.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/testing.h"

/// Stores in memory, for tests of hooks, actions, checks and computed stores.
namespace apimesh::core_api::testing {

/// Opens stores in memory, and counts them.
class FakeBackend final : public storage::Backend {
 public:
  storage::StorePtr Open(storage::ResourceConfig config) override {
    ++opened;
    return std::make_shared<apimesh::testing::FakeStore>(std::move(config));
  }
  std::vector<storage::ResourceStats> Stats() const override { return {}; }
  void Stop() override {}
  int opened = 0;
};

/// Returns inputs with a clock and with a store in memory for every built-in resource.
inline KindInputs InputsWithStores() {
  KindInputs inputs = InputsWithClock();
  inputs.stores = std::make_shared<ResourceStores>(std::make_shared<FakeBackend>());
  inputs.stores->Describe(AllResources(inputs));
  return inputs;
}

}  // namespace apimesh::core_api::testing
