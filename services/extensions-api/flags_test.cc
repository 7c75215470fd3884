#include "services/extensions-api/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/flags/binding_errors.h"

namespace apimesh::extensions_api {
namespace {

// Fails if the table assigns a flag to this service that it does not bind, or if a binding does not fit the table.
TEST(Flags, BindsTheFlagsThatTheTableAssigns) {
  EXPECT_THAT(flags::BindingErrors<Flags>(flags::kExtensionsApi), ::testing::IsEmpty());
}

}  // namespace
}  // namespace apimesh::extensions_api
