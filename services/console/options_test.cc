#include "services/console/options.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/flags/binding_errors.h"

namespace apimesh::console {
namespace {

// Fails if the table assigns a flag to this service that it does not bind, or if a binding does not fit the table.
TEST(Options, BindsTheFlagsThatTheTableAssigns) {
  EXPECT_THAT(flags::BindingErrors<Options>(flags::kConsole), ::testing::IsEmpty());
}

TEST(Options, PlainHttpIsForLoopbackOnly) {
  Options options;
  EXPECT_NO_THROW(Check(options));
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "localhost", ""}) {
    options.address = address;
    EXPECT_THROW(Check(options), std::runtime_error) << address;
  }
  options.address = "0.0.0.0";
  options.tls_cert_file = "console.crt";
  EXPECT_THROW(Check(options), std::runtime_error);
  options.tls_key_file = "console.key";
  EXPECT_NO_THROW(Check(options));
}

}  // namespace
}  // namespace apimesh::console
