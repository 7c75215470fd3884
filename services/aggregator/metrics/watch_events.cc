#include "services/aggregator/metrics/watch_events.h"

#include <algorithm>
#include <cstring>

namespace apimesh::aggregator {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t LengthAt(std::string_view data) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length = length << 8 | static_cast<unsigned char>(data[i]);
  return length;
}

}  // namespace

void WatchEventSizes::Add(std::string_view data) {
  // An event of JSON starts with a brace, and a length of less than 2 GB does not.
  const bool json = data.starts_with('{');
  while (!data.empty()) {
    std::size_t end = data.size();
    if (json) {
      const auto* const newline = static_cast<const char*>(std::memchr(data.data(), '\n', data.size()));
      if (newline != nullptr) end = static_cast<std::size_t>(newline - data.data()) + 1;
    } else if (data.size() > kLengthBytes) {
      end = std::min(end, kLengthBytes + LengthAt(data));
    }
    bytes.push_back(static_cast<std::uint32_t>(end));
    data.remove_prefix(end);
  }
}

void WatchEventMetrics::Sent(const WatchEventSizes& events, std::size_t watchers) {
  if (events.bytes.empty() || watchers == 0) return;
  events_.Add(static_cast<double>(events.bytes.size() * watchers));
  for (const std::uint32_t size : events.bytes) {
    for (std::size_t i = 0; i < watchers; ++i) sizes_.Observe(size);
  }
}

void CountEvents(WatchEventMetrics& metrics, const std::vector<SharedBytes>& pieces) {
  WatchEventSizes events;
  for (const SharedBytes& piece : pieces) events.Add(piece.View());
  metrics.Sent(events);
}

}  // namespace apimesh::aggregator
