#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace apimesh::testing {

/// Returns the path of a temporary file or folder for this process. The tests of one binary run in parallel, each in
/// its own process, so a path that they all share would be overwritten by another test.
inline std::string TempPath(std::string_view name) {
  return fmt::format("{}apimesh-{}-{}", ::testing::TempDir(), ::getpid(), name);
}

}  // namespace apimesh::testing
