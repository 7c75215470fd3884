#include "lib/base/text/host_port.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(WithPort, AddsAPortIfThereIsNone) {
  EXPECT_EQ(WithPort("10.1.2.3", 6443), "10.1.2.3:6443");
  EXPECT_EQ(WithPort("api.example.com", 443), "api.example.com:443");
  EXPECT_EQ(WithPort("api.example.com:8443", 443), "api.example.com:8443");
  EXPECT_EQ(WithPort("fd00::1", 6443), "[fd00::1]:6443");
  EXPECT_EQ(WithPort("[fd00::1]", 6443), "[fd00::1]:6443");
  EXPECT_EQ(WithPort("[fd00::1]:443", 6443), "[fd00::1]:443");
}

}  // namespace
}  // namespace apimesh
