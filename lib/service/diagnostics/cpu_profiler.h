#pragma once

#include <cstdint>
#include <map>
#include <vector>

/// Samples what the threads of this process execute. While it is off it costs nothing.
namespace apimesh::service {

inline constexpr int kSamplesPerSecond = 100;  // of CPU time, over all threads

struct CpuSamples {
  /// Stacks of code addresses, innermost first, and how often each was seen. An address is that of the call, so it can
  /// be looked up as it is.
  std::map<std::vector<std::uintptr_t>, std::uint64_t> stacks;
  std::uint64_t lost = 0;  // samples for which there was no room
};

/// Starts sampling. Returns false if it is on already, or if the system refuses.
bool StartCpuSampling();
/// Stops sampling and returns what was seen. Must be called once after StartCpuSampling() has returned true.
CpuSamples StopCpuSampling();

}  // namespace apimesh::service
