#include "lib/base/progress/progress.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh {
namespace {

using namespace std::chrono_literals;

/// Runs 4 steps of 3 seconds with 25 items each, and returns what was printed.
std::string PrintedBy(bool terminal, std::uint64_t total) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  {
    testing::ManualClock clock;
    Progress progress({.task = "copying", .total = total, .out = out, .terminal = terminal}, clock);
    for (int i = 0; i < 4; ++i) {
      clock.Advance(3s);
      progress.Advance(25);
    }
  }
  std::fclose(out);
  std::string printed(text, size);
  std::free(text);
  return printed;
}

TEST(Progress, AddsALineEvery10SecondsOutsideOfATerminal) {
  EXPECT_EQ(PrintedBy(false, 200), "copying: 100 of 200 (50 %), about 12s left\n");
}

TEST(Progress, RewritesTheLineOfATerminalAndRemovesIt) {
  EXPECT_EQ(
      PrintedBy(true, 100),
      "\r\x1b[Kcopying: 25 of 100 (25 %), about 9s left\r\x1b[Kcopying: 50 of 100 (50 %), about 6s left"
      "\r\x1b[Kcopying: 75 of 100 (75 %), about 3s left\r\x1b[Kcopying: 100 of 100 (100 %), about 0s left\r\x1b[K");
}

TEST(Progress, CountsOnlyIfTheTotalIsUnknown) { EXPECT_EQ(PrintedBy(false, 0), "copying: 100\n"); }

TEST(Progress, NeverHasMoreItemsThanTheTotal) {
  EXPECT_EQ(PrintedBy(false, 60), "copying: 100 of 100 (100 %), about 0s left\n");
}

}  // namespace
}  // namespace apimesh
