#include "lib/meta/ages.h"

#include <algorithm>
#include <optional>

#include "lib/meta/time.h"

namespace apimesh::meta {
namespace {

using std::chrono::nanoseconds;

// Times come from clients, and 64 bits of nanoseconds cover 292 years. Larger differences saturate.
nanoseconds Between(WallTime from, WallTime to) {
  const nanoseconds a = from.time_since_epoch(), b = to.time_since_epoch();
  std::int64_t span = 0;
  if (!__builtin_sub_overflow(b.count(), a.count(), &span)) return nanoseconds(span);
  return a < b ? nanoseconds::max() : nanoseconds::min();
}

WallTime After(WallTime time, nanoseconds span) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(nanoseconds(time.time_since_epoch()).count(), span.count(), &sum)) return WallTime::max();
  return WallTime(std::chrono::duration_cast<WallTime::duration>(nanoseconds(sum)));
}

}  // namespace

std::string Ages::Of(std::string_view since) {
  const std::optional<WallTime> start = ParseTime(since);
  if (!start) return "<unknown>";
  nanoseconds holds{};
  std::string text = HumanDuration(Between(*start, now_), &holds);
  if (holds != nanoseconds::max()) until_ = std::min(until_, After(*start, holds));
  return text;
}

}  // namespace apimesh::meta
