#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/flags/binding_errors.h"
#include "services/core-api/server.h"

namespace apimesh::core_api {
namespace {

// Fails if the table assigns a flag to this service that it does not bind, or if a binding does not fit the table.
TEST(Flags, BindsTheFlagsThatTheTableAssigns) {
  EXPECT_THAT(flags::BindingErrors<ServerFlags>(flags::kCoreApi), ::testing::IsEmpty());
}

}  // namespace
}  // namespace apimesh::core_api
