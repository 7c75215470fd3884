#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace apimesh::load {

/// The results of a run. Delays are in microseconds.
struct Report {
  double seconds = 0;
  std::int64_t done = 0;
  std::int64_t errors = 0;
  std::int64_t bytes = 0;
  double server_cpu_seconds = 0;                    // if the plan lists the server's processes
  std::map<std::string, std::int64_t> error_texts;  // a limited number of distinct texts
  std::vector<std::uint32_t> delays;

  void Fail(std::string text);
  /// Returns one line of JSON: {"done":…,"errors":…,"perSecond":…,"p50":…,"p99":…,"max":…,…}.
  std::string ToJson();
};

}  // namespace apimesh::load
