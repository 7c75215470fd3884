#include "services/core-api/groups/batch/job_spec/indexes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::core_api {
namespace {

struct Interval {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::string error;  // empty if the interval is valid
};

/// Parses an index. A sign is accepted, as in Go.
std::optional<std::int64_t> ParseIndex(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Interval ParseInterval(std::string_view text, std::int64_t completions) {
  const std::vector<std::string_view> limits = Split(text, '-');
  if (limits.size() > 2) {
    return {.error = fmt::format("the fragment {} violates the requirement that an index interval can have at most two "
                                 "parts separated by '-'",
                                 meta::Quoted(text))};
  }
  std::int64_t numbers[2] = {};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const std::optional<std::int64_t> number = ParseIndex(limits[i]);
    if (!number)
      return {.error = fmt::format("cannot convert string to integer for index: {}", meta::Quoted(limits[i]))};
    if (*number >= completions) return {.error = fmt::format("too large index: {}", meta::Quoted(limits[i]))};
    numbers[i] = *number;
  }
  if (limits.size() == 1) return {numbers[0], numbers[0], ""};
  if (numbers[0] >= numbers[1]) {
    return {.error = fmt::format("non-increasing order, previous: {}, current: {}", numbers[0], numbers[1])};
  }
  return {numbers[0], numbers[1], ""};
}

}  // namespace

std::string CheckIndexes(std::string_view indexes, std::int64_t completions, std::int64_t* count) {
  std::int64_t total = 0;
  if (count) *count = 0;
  if (indexes.empty()) return "";
  std::optional<std::int64_t> last;
  for (const std::string_view text : Split(indexes, ',')) {
    Interval interval = ParseInterval(text, completions);
    if (!interval.error.empty()) return std::move(interval.error);
    if (last && *last >= interval.first) {
      return fmt::format("non-increasing order, previous: {}, current: {}", *last, interval.first);
    }
    total += interval.last - interval.first + 1;
    last = interval.last;
  }
  if (count) *count = total;
  return "";
}

std::string CheckDisjoint(std::string_view completed, std::string_view failed, std::int64_t completions) {
  if (completed.empty() || failed.empty()) return "";
  const std::vector<std::string_view> done = Split(completed, ',');
  const std::vector<std::string_view> bad = Split(failed, ',');
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < done.size() && j < bad.size()) {
    const Interval a = ParseInterval(done[i], completions);
    if (!a.error.empty()) {
      ++i;
      continue;
    }
    const Interval b = ParseInterval(bad[j], completions);
    if (!b.error.empty()) {
      ++j;
    } else if (a.first <= b.last && b.first <= a.last) {
      return fmt::format("failedIndexes and completedIndexes overlap at index: {}", std::max(a.first, b.first));
    } else if (a.first <= b.first) {
      ++i;
    } else {
      ++j;
    }
  }
  return "";
}

}  // namespace apimesh::core_api
