#include "lib/base/progress/progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/text/format_duration.h"

namespace apimesh {
namespace {

constexpr std::chrono::milliseconds kRewriteEvery{200};
constexpr std::chrono::seconds kPrintEvery{10};
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      began_(clock.Steady()),
      next_(began_ + (options_.terminal ? Duration(kRewriteEvery) : Duration(kPrintEvery))) {}

Progress::~Progress() {
  if (!shown_ || !options_.terminal) return;
  std::fputs(kEraseLine, options_.out);
  std::fflush(options_.out);
}

void Progress::Advance(std::uint64_t count) {
  done_ += count;
  const SteadyTime now = clock_.Steady();
  if (now < next_) return;
  next_ = now + (options_.terminal ? Duration(kRewriteEvery) : Duration(kPrintEvery));
  shown_ = true;
  const std::string line = Line(now - began_);
  fmt::print(options_.out, "{}{}{}", options_.terminal ? kEraseLine : "", line, options_.terminal ? "" : "\n");
  std::fflush(options_.out);
}

std::string Progress::Line(Duration elapsed) const {
  if (options_.total == 0) return fmt::format("{}: {}", options_.task, done_);
  // The total is an estimate of the caller: new objects can appear while the task runs.
  const std::uint64_t total = std::max(options_.total, done_);
  const double left = std::chrono::duration<double>(elapsed).count() /
                      static_cast<double>(std::max<std::uint64_t>(done_, 1)) * static_cast<double>(total - done_);
  const std::chrono::seconds seconds(static_cast<std::int64_t>(left + 0.5));
  return fmt::format("{}: {} of {} ({} %), about {} left", options_.task, done_, total, done_ * 100 / total,
                     FormatDuration(seconds));
}

bool Progress::IsTerminal(std::FILE* file) { return ::isatty(::fileno(file)) == 1; }

}  // namespace apimesh
