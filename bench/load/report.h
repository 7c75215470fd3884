#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace apimesh::load {

/// What a run saw. Delays are in microseconds.
struct Report {
  double seconds = 0;
  std::int64_t done = 0;
  std::int64_t errors = 0;
  std::int64_t bytes = 0;
  double server_cpu_seconds = 0;  // where the plan names the server's processes
  std::map<std::string, std::int64_t> error_texts;  // at most a few kinds of them
  std::vector<std::uint32_t> delays;

  void Fail(std::string text);
  /// One line of JSON: {"done":…,"errors":…,"perSecond":…,"p50":…,"p99":…,"max":…,…}.
  std::string ToJson();
};

}  // namespace apimesh::load
