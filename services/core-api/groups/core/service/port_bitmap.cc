#include "services/core-api/groups/core/service/port_bitmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace apimesh::core_api {
namespace {

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<PortRange> PortRange::Parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> first = Number(text.substr(0, dash)), last = Number(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first || *last > 65535) return std::nullopt;
  return PortRange{*first, *last - *first + 1};
}

std::string PortRange::ToString() const { return fmt::format("{}-{}", first, first + size - 1); }

bool PortBitmap::Taken(std::int64_t port) const {
  const auto bit = static_cast<std::size_t>(port - range_.first);
  if (bit / 8 >= bytes_.size()) return false;
  return (static_cast<unsigned char>(bytes_[bytes_.size() - 1 - bit / 8]) >> (bit % 8) & 1) != 0;
}

void PortBitmap::Set(std::int64_t port, bool taken) {
  const auto bit = static_cast<std::size_t>(port - range_.first);
  if (bit / 8 >= bytes_.size()) bytes_.insert(0, bit / 8 + 1 - bytes_.size(), '\0');
  char& byte = bytes_[bytes_.size() - 1 - bit / 8];
  const auto mask = static_cast<char>(1U << (bit % 8));
  byte = static_cast<char>(taken ? byte | mask : byte & ~mask);
}

std::optional<std::int64_t> PortBitmap::TakeAny(const meta::RandomBits& random) {
  constexpr std::int64_t kMin = 16, kMax = 128, kStep = 32;
  const std::int64_t offset = range_.size <= kMin ? 0 : std::clamp(range_.size / kStep, kMin, kMax);
  const auto search = [&](std::int64_t begin, std::int64_t end) -> std::optional<std::int64_t> {
    const std::int64_t size = end - begin;
    if (size <= 0) return std::nullopt;
    const auto start = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t port = range_.first + begin + (start + i) % size;
      if (Taken(port)) continue;
      Set(port, true);
      return port;
    }
    return std::nullopt;
  };
  if (const std::optional<std::int64_t> port = search(offset, range_.size)) return port;
  return search(0, offset);
}

std::string PortBitmap::Bytes() const { return bytes_.substr(std::min(bytes_.find_first_not_of('\0'), bytes_.size())); }

}  // namespace apimesh::core_api
