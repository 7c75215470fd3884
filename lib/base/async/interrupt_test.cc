#include "lib/base/async/interrupt.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

int CallsUntilInterrupted() {
  for (int calls = 1; calls < 10'000; ++calls) {
    if (Interrupted()) return calls;
  }
  return -1;
}

TEST(Interruptible, StopsWhenTheCheckSaysSo) {
  EXPECT_EQ(CallsUntilInterrupted(), -1) << "nothing can be interrupted outside of it";
  bool stop = false;
  {
    const Interruptible outer([](const void* context) { return *static_cast<const bool*>(context); }, &stop);
    EXPECT_EQ(CallsUntilInterrupted(), -1);
    stop = true;
    {
      const Interruptible inner([](const void*) { return false; }, nullptr);
      EXPECT_EQ(CallsUntilInterrupted(), -1);
    }
    EXPECT_GT(CallsUntilInterrupted(), 0);
    stop = false;
    EXPECT_TRUE(Interrupted()) << "it stays interrupted";
  }
  EXPECT_FALSE(Interrupted());
}

}  // namespace
}  // namespace apimesh
