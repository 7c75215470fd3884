#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "services/launcher/doctor/finding.h"

/// What a mesh needs of the machine. Each function makes one check; the thresholds are in the functions that judge.
namespace apimesh::launcher {

Finding CheckClock();
/// Writes a few pages to a temporary file in `folder` as the store writes its log, and removes it.
Finding CheckDisk(const std::string& folder, const Clock& clock);
Finding CheckDiskSpace(const std::string& folder);
Finding CheckMemory();
Finding CheckFileLimit();
Finding CheckKernel();

/// Judge what was measured.
Finding JudgeDisk(std::vector<std::chrono::microseconds> writes);
Finding JudgeFileLimit(std::uint64_t limit);

}  // namespace apimesh::launcher
