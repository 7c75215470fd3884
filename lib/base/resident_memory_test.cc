#include "lib/base/resident_memory.h"

#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

/// The resident memory of this process that is mapped from files, such as code, in kilobytes.
long ResidentFromFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stol(line.substr(8));
  }
  return -1;
}

TEST(ReleaseIdlePages, GivesCodeBackAndItStillRuns) {
  EXPECT_TRUE(std::regex_match("aaab", std::regex("a*b")));
  const long before = ResidentFromFiles();
  ReleaseIdlePages();
  const long after = ResidentFromFiles();
  EXPECT_LT(after, before / 2);
  EXPECT_TRUE(std::regex_match("aaab", std::regex("a*b"))) << "the pages come back";
}

}  // namespace
}  // namespace apimesh
