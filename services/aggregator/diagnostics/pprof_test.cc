#include "services/aggregator/diagnostics/pprof.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

std::size_t Count(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(WriteProfile, HasEveryTextOnceAndLeavesOutBadLines) {
  const std::string profile = WriteProfile(
      {{"core-api", "3\ta::Leaf\ta::Root\n2\ta::Other\ta::Root\nbad\tb::Bad\n7\n"}, {"aggregator", "1\ta::Leaf\n"}},
      100, WallTime(std::chrono::seconds(1)), std::chrono::seconds(2));
  for (const char* text :
       {"samples", "count", "nanoseconds", "a::Leaf", "a::Root", "a::Other", "core-api", "aggregator", "process"})
    EXPECT_EQ(Count(profile, text), 1u) << text;
  EXPECT_EQ(profile.find("b::Bad"), std::string::npos);
  EXPECT_EQ(profile.substr(0, 2), std::string("\x32\x00", 2)) << "the first text of the table must be empty";
}

}  // namespace
}  // namespace apimesh::aggregator
