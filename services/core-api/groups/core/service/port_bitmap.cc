#include "services/core-api/groups/core/service/port_bitmap.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/meta/uuid.h"
#include "lib/schema/builtin.h"
#include "services/core-api/groups/core/service/allocation.h"
#include "services/core-api/groups/core/service/port_change.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Store = storage::Store;

const meta::Gvk kRangeKind{"", "v1", "RangeAllocation"};

/// Computes the update from the current state. It is called again after a conflict and must reset the results.
meta::Result<std::optional<Store::Update>> ApplyPorts(const std::shared_ptr<PortChange>& change,
                                                      const meta::Object* current) {
  std::string bytes;
  if (current) DecodeBase64(meta::FindString(current->Root(), "data"), bytes);
  PortBitmap bitmap(change->range, std::move(bytes));
  change->conflict.reset();
  change->full = false;
  change->given.clear();
  for (const std::int64_t port : change->release) bitmap.Set(port, false);
  for (const std::int64_t port : change->wanted) {
    if (bitmap.Taken(port)) {
      change->conflict = port;
      return std::optional<Store::Update>();
    }
    bitmap.Set(port, true);
  }
  for (std::size_t i = 0; i < change->any; ++i) {
    const std::optional<std::int64_t> port = bitmap.TakeAny(meta::SecureRandomBits);
    if (!port) {
      change->full = true;
      return std::optional<Store::Update>();
    }
    change->given.push_back(*port);
  }
  json::object root;
  if (current) root = current->Root();
  root["kind"] = kRangeKind.kind;
  root["apiVersion"] = kRangeKind.ApiVersion();
  if (!current) root["metadata"] = {{"creationTimestamp", nullptr}};
  root["range"] = change->range.ToString();
  root["data"] = EncodeBase64(bitmap.Bytes());
  return std::optional<Store::Update>(Store::Update{meta::Object(std::move(root)), std::chrono::seconds(0)});
}

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

Task<meta::Result<std::optional<Store::Update>>> ApplyPortsTask(std::shared_ptr<PortChange> change,
                                                                const meta::Object* current) {
  co_return ApplyPorts(change, current);
}

storage::ResourceConfig RangesConfig() {
  storage::ResourceConfig config;
  config.resource = {"", "rangeallocations"};
  config.key_prefix = "ranges";
  config.namespaced = false;
  config.api_version = "v1";
  config.to_json = [](std::string_view stored) -> meta::Result<std::string> {
    const schema::Node* node = schema::Builtin().FindKind(kRangeKind);
    if (!codec::IsProtobuf(stored) || !node) return std::string(stored);
    ASSIGN_OR_RETURN(meta::Object object, codec::ReadProtobuf(stored, *node, meta::NewArena()));
    object.SetGvk(kRangeKind);
    return codec::WriteJson(object.Root());
  };
  return config;
}

}  // namespace apimesh::core_api
