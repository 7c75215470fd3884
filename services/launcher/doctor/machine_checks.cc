#include "services/launcher/doctor/machine_checks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

constexpr std::uintmax_t kMegabyte = 1024 * 1024;

/// Returns a number of /proc/meminfo in megabytes; 0 if it is not there.
std::uintmax_t MemoryInfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) / 1024;
  }
  return 0;
}

/// A file that disappears when it is closed.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder)
      : file_(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {}
  ~ScratchFile() {
    if (file_ >= 0) ::close(file_);
  }
  /// Appends a page and waits until it is on the disk.
  bool WritePage() {
    static const std::string page(4096, 'x');
    return ::write(file_, page.data(), page.size()) == static_cast<ssize_t>(page.size()) && ::fdatasync(file_) == 0;
  }

 private:
  const int file_;
};

}  // namespace

Finding CheckClock() {
  timex state{};
  const int status = ::adjtimex(&state);
  if (status < 0) return Good("clock", "the kernel does not tell whether the clock is synchronised");
  if (status != TIME_ERROR && !(state.status & STA_UNSYNC)) return Good("clock", "synchronised");
  return Warning("clock", "no time service synchronises the clock",
                 "Start one (systemd-timesyncd, chrony): tokens and certificates are valid by the clock.");
}

Finding JudgeDisk(std::vector<microseconds> writes) {
  constexpr microseconds kSlow = std::chrono::milliseconds(10);
  if (writes.empty()) {
    return Problem("disk", "the data folder can't be written",
                   "Check its owner and mode, and that the file system is mounted for writing.");
  }
  std::sort(writes.begin(), writes.end());
  const std::string what = fmt::format("a synchronised write takes {:.1f} ms (median) to {:.1f} ms",
                                       static_cast<double>(writes[writes.size() / 2].count()) / 1000,
                                       static_cast<double>(writes.back().count()) / 1000);
  if (writes[writes.size() / 2] < kSlow) return Good("disk", what);
  return Warning("disk", what,
                 "Each write of an object waits for the disk. Put --dir on a disk that needs less than 10 ms.");
}

Finding CheckDisk(const std::string& folder, const Clock& clock) {
  constexpr int kWrites = 20;
  ScratchFile file(folder);
  std::vector<microseconds> writes;
  for (int i = 0; i < kWrites; ++i) {
    const SteadyTime begin = clock.Steady();
    if (!file.WritePage()) break;
    writes.push_back(std::chrono::duration_cast<microseconds>(clock.Steady() - begin));
  }
  return JudgeDisk(std::move(writes));
}

Finding CheckDiskSpace(const std::string& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error)
    return Problem("space", fmt::format("{}: {}", folder, error.message()),
                   "Create the folder, or choose another --dir.");
  const std::string what = fmt::format("{} MB free in {}", space.available / kMegabyte, folder);
  if (space.available >= 1024 * kMegabyte) return Good("space", what);
  return Warning("space", what,
                 "Free at least 1 GB: the store keeps its log and two snapshots, and stops when the disk is full.");
}

Finding CheckMemory() {
  const std::uintmax_t available = MemoryInfo("MemAvailable");
  const std::string what = fmt::format("{} MB available of {} MB", available, MemoryInfo("MemTotal"));
  if (available >= 256) return Good("memory", what);
  return Warning("memory", what,
                 "A mesh needs about 40 MB at rest, 110 MB with Envoy, and 1.5 times the size of all objects.");
}

Finding JudgeFileLimit(std::uint64_t limit) {
  if (limit >= 10'000) return Good("files", fmt::format("a process may open {} files", limit));
  return Warning(
      "files", fmt::format("a process may open only {} files", limit),
      "Each client connection needs one. Raise the limit: ulimit -n 65536, or LimitNOFILE= in the systemd unit.");
}

Finding CheckFileLimit() {
  rlimit limit{};
  // The services raise their limit to the hard limit themselves.
  return JudgeFileLimit(::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0);
}

Finding CheckKernel() {
  utsname name{};
  ::uname(&name);
  const std::string release = fmt::format("Linux {}", name.release);
  int disabled = 0;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
  if (disabled == 0) return Good("kernel", release);
  return Warning(
      "kernel", release + ", io_uring is switched off",
      "Everything works, but watch events cost more CPU time. To switch it on: sysctl kernel.io_uring_disabled=0");
}

}  // namespace apimesh::launcher
