#include "services/aggregator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/flags/binding_errors.h"

namespace apimesh::aggregator {
namespace {

// Fails if the table assigns a flag to this service that it does not bind, or if a binding does not fit the table.
TEST(Options, BindsTheFlagsThatTheTableAssigns) {
  EXPECT_THAT(flags::BindingErrors<Options>(flags::kAggregator), ::testing::IsEmpty());
}

}  // namespace
}  // namespace apimesh::aggregator
