#include "services/aggregator/fairness/queuing/work.h"

#include <algorithm>
#include <functional>

namespace apimesh::aggregator {
namespace {

using meta::Verb;

constexpr std::size_t kBytesPerSeat = 100'000;
// A list is sent in pieces, so an answer of any size occupies at most this much memory.
constexpr std::size_t kMaxBytesOfList = 1'000'000;
constexpr int kMaxSeatsOfWrite = 10;
constexpr int kWatchesPerSeat = 10;
constexpr auto kTimePerEvent = std::chrono::milliseconds(5);

constexpr std::uint64_t kSizeBits = 32;
constexpr std::size_t kSizeUnit = 256;

/// Calls `visit(name, value)` for each parameter of a raw query.
template <class Visit>
void ForEachParameter(std::string_view query, Visit visit) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    visit(parameter.substr(0, equals), parameter.substr(std::min(equals + 1, parameter.size())));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

/// Returns whether a watch begins with events for all existing objects.
bool SendsExistingObjects(std::string_view query) {
  std::string_view version, initial;
  ForEachParameter(query, [&](std::string_view name, std::string_view value) {
    if (name == "resourceVersion") version = value;
    if (name == "sendInitialEvents") initial = value;
  });
  return version.empty() || version == "0" || initial == "true" || initial == "1";
}

int SeatsOfList(std::size_t bytes, int max_seats) {
  const std::size_t counted = std::min(bytes, kMaxBytesOfList);
  const int seats = static_cast<int>((counted + kBytesPerSeat - 1) / kBytesPerSeat);
  return std::clamp(seats, 1, max_seats > 0 ? max_seats : std::max(1, seats));
}

}  // namespace

SeatTime SeatTimeOf(int seats, Duration duration) {
  return seats * std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

std::uint64_t ListSizes::Key(std::string_view path, std::string_view query) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  std::uint64_t key = std::hash<std::string_view>()(path);
  ForEachParameter(query, [&](std::string_view name, std::string_view value) {
    if (name != "labelSelector" && name != "fieldSelector" && name != "limit") return;
    key ^= (std::hash<std::string_view>()(value) + kMix + name.size()) * kMix;
  });
  return key;
}

void ListSizes::Record(std::uint64_t key, std::size_t bytes) {
  const std::uint64_t size = std::min<std::uint64_t>(bytes / kSizeUnit + 1, (std::uint64_t{1} << kSizeBits) - 1);
  entries_[key % kEntries].store((key >> kSizeBits << kSizeBits) | size, std::memory_order_relaxed);
}

std::size_t ListSizes::Find(std::uint64_t key) const {
  const std::uint64_t entry = entries_[key % kEntries].load(std::memory_order_relaxed);
  if (entry >> kSizeBits != key >> kSizeBits) return 0;
  return (entry & ((std::uint64_t{1} << kSizeBits) - 1)) * kSizeUnit;
}

std::string WatchCounts::KeyOf(const meta::RequestInfo& info, std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(info.api_group.size() + info.resource.size() + ns.size() + name.size() + 3);
  for (const std::string_view part : {std::string_view(info.api_group), std::string_view(info.resource), ns, name})
    key.append(part).push_back('\n');
  return key;
}

void WatchCounts::Add(const meta::RequestInfo& info, int change) {
  std::string key = KeyOf(info, info.ns, info.name);
  const std::lock_guard lock(mutex_);
  const auto entry = counts_.try_emplace(std::move(key), 0).first;
  entry->second += change;
  if (entry->second == 0) counts_.erase(entry);
}

int WatchCounts::Interested(const meta::RequestInfo& info) const {
  const std::lock_guard lock(mutex_);
  if (counts_.empty()) return 0;
  const auto count = [this, &info](std::string_view ns, std::string_view name) {
    const auto found = counts_.find(KeyOf(info, ns, name));
    return found == counts_.end() ? 0 : found->second;
  };
  int sum = count({}, {});
  if (!info.ns.empty()) sum += count(info.ns, {});
  if (!info.name.empty()) sum += count(info.ns, info.name);
  return sum;
}

WorkEstimate EstimateWork(const meta::RequestInfo& info, std::string_view path, std::string_view query, int max_seats,
                          const ListSizes& sizes, const WatchCounts& watches, int* watch_count) {
  WorkEstimate work;
  switch (static_cast<Verb>(info.verb)) {
    case Verb::kWatch:
      if (!SendsExistingObjects(query)) return work;
      [[fallthrough]];
    case Verb::kList: work.initial_seats = SeatsOfList(sizes.Find(ListSizes::Key(path, query)), max_seats); return work;
    case Verb::kCreate:
    case Verb::kUpdate:
    case Verb::kPatch:
    case Verb::kDelete: {
      const int interested = watches.Interested(info);
      if (watch_count) *watch_count = interested;
      if (interested < kWatchesPerSeat) return work;
      const int wanted = (interested + kWatchesPerSeat - 1) / kWatchesPerSeat;
      const int most = max_seats > 0 ? std::min(max_seats, kMaxSeatsOfWrite) : kMaxSeatsOfWrite;
      work.final_seats = std::min(wanted, most);
      // The same work on fewer seats takes longer.
      work.extra_time = std::chrono::duration_cast<Duration>(kTimePerEvent * double(wanted) / work.final_seats);
      return work;
    }
    default: return work;
  }
}

}  // namespace apimesh::aggregator
