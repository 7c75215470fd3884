#include "lib/service/diagnostics/cpu_profiler.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <thread>

#include <sys/time.h>
#include <unwind.h>

namespace apimesh::service {
namespace {

constexpr std::size_t kMaxSamples = 1 << 15;  // 5 minutes of one core
constexpr std::size_t kMaxFrames = 64;

struct Sample {
  std::atomic<std::uint32_t> frames{0};  // 0: not written yet
  std::uintptr_t addresses[kMaxFrames];
};
struct Buffer {
  std::atomic<std::size_t> next{0};
  std::unique_ptr<Sample[]> samples{new Sample[kMaxSamples]};
};

std::atomic<bool> on{false};
std::atomic<Buffer*> buffer{nullptr};
std::atomic<int> handlers{0};  // that are running and may use `buffer`

struct Walk {
  Sample* sample;
  std::uint32_t count = 0;
  bool interrupted = false;  // the frame that the signal interrupted has been reached
};

_Unwind_Reason_Code Visit(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  int exact = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &exact);
  if (address == 0) return _URC_END_OF_STACK;
  // Frames before are those of the handler. Of all others, the address is that after the call.
  walk.interrupted |= exact != 0;
  if (!walk.interrupted) return _URC_NO_REASON;
  walk.sample->addresses[walk.count++] = exact != 0 ? address : address - 1;
  return walk.count == kMaxFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// Since GCC 12 and glibc 2.35, the unwinder takes no lock and allocates nothing (_dl_find_object), so it can run in a
// signal handler.
void TakeSample(Buffer& into) {
  const std::size_t index = into.next.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxSamples) return;
  Walk walk{&into.samples[index]};
  _Unwind_Backtrace(&Visit, &walk);
  walk.sample->frames.store(walk.count, std::memory_order_release);
}

void OnSignal(int) {
  const int saved = errno;
  handlers.fetch_add(1);
  if (Buffer* const into = buffer.load()) TakeSample(*into);
  handlers.fetch_sub(1);
  errno = saved;
}

bool SetTimer(int microseconds) {
  itimerval interval{};
  interval.it_interval.tv_usec = interval.it_value.tv_usec = microseconds;
  return ::setitimer(ITIMER_PROF, &interval, nullptr) == 0;
}

CpuSamples Summary(const Buffer& from) {
  CpuSamples summary;
  const std::size_t taken = from.next;
  for (std::size_t i = 0; i < std::min(taken, kMaxSamples); ++i) {
    const Sample& sample = from.samples[i];
    const std::uint32_t frames = sample.frames.load(std::memory_order_acquire);
    if (frames == 0) {
      ++summary.lost;
    } else {
      ++summary.stacks[{sample.addresses, sample.addresses + frames}];
    }
  }
  if (taken > kMaxSamples) summary.lost += taken - kMaxSamples;
  return summary;
}

}  // namespace

bool StartCpuSampling() {
  if (on.exchange(true)) return false;
  auto fresh = std::make_unique<Buffer>();
  // The handler stays installed, because a signal may arrive late, and its default action ends the process.
  struct sigaction action{};
  action.sa_handler = &OnSignal;
  action.sa_flags = SA_RESTART;
  if (::sigaction(SIGPROF, &action, nullptr) != 0) {
    on = false;
    return false;
  }
  buffer = fresh.get();
  if (!SetTimer(1'000'000 / kSamplesPerSecond)) {
    buffer = nullptr;
    while (handlers != 0) std::this_thread::yield();
    on = false;
    return false;
  }
  fresh.release();  // until StopCpuSampling()
  return true;
}

CpuSamples StopCpuSampling() {
  SetTimer(0);
  const std::unique_ptr<Buffer> taken(buffer.exchange(nullptr));
  while (handlers != 0) std::this_thread::yield();
  CpuSamples summary = Summary(*taken);
  on = false;
  return summary;
}

}  // namespace apimesh::service
