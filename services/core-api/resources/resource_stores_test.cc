#include "services/core-api/resources/resource_stores.h"

#include <gmock/gmock.h>

#include "lib/testing/run.h"
#include "services/core-api/groups/testing_stores.h"

namespace apimesh::core_api {
namespace {

const meta::Gvr kPods{"", "v1", "pods"};

class Stores : public ::testing::Test {
 protected:
  const std::shared_ptr<testing::FakeBackend> backend_ = std::make_shared<testing::FakeBackend>();
  const std::shared_ptr<ResourceStores> stores_ = std::make_shared<ResourceStores>(backend_);
};

TEST_F(Stores, AreFoundByKindsThatWereMadeBefore) {
  KindInputs inputs;
  inputs.stores = stores_;
  const storage::StorePtr early = inputs.StoreOf(kPods);
  stores_->Describe(AllResources(inputs));
  EXPECT_EQ(backend_->opened, 0);
  EXPECT_EQ(*apimesh::testing::RunTask(early->Count({})), 0);
  EXPECT_EQ(backend_->opened, 1);
}

TEST_F(Stores, AreOpenedOnce) {
  stores_->Describe(AllResources({}));
  const storage::StorePtr found = stores_->Find(kPods);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(stores_->Find(kPods), found);
  EXPECT_EQ(backend_->opened, 1);
}

TEST_F(Stores, OfResourcesThatStoreNothingDoNotExist) {
  stores_->Describe(AllResources({}));
  EXPECT_EQ(stores_->Find({"", "v1", "bindings"}), nullptr);
  EXPECT_EQ(stores_->Find({"example.com", "v1", "widgets"}), nullptr);
  EXPECT_THROW(stores_->Of({"", "v1", "bindings"}), std::logic_error);
  EXPECT_THROW(stores_->Of({"", "v1", "nonsense"}), std::logic_error);
}

}  // namespace
}  // namespace apimesh::core_api
