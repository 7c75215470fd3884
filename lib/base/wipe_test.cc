#include "lib/base/wipe.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(Wipe, OverwritesTheBytes) {
  std::string secret(40, 's');
  const char* const place = secret.data();
  Wipe(secret);
  EXPECT_EQ(secret.size(), 0u);
  EXPECT_EQ(std::string_view(place, 40).find('s'), std::string_view::npos);  // the string still owns its memory
}

TEST(WipeAtEnd, RunsWhenAScopeIsLeft) {
  std::string secret(40, 's');
  { const WipeAtEnd wipe(secret); }
  EXPECT_EQ(secret, "");
}

TEST(SecretBytes, MovesWithoutACopy) {
  SecretBytes first(std::string(32, 'k'));
  const char* const place = first.View().data();
  const SecretBytes second(std::move(first));
  EXPECT_EQ(second.View().data(), place);
  EXPECT_EQ(second.size(), 32u);
}

}  // namespace
}  // namespace apimesh
