#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/meta/names.h"

namespace apimesh::core_api {

struct PortRange {
  std::int64_t first = 30000;
  std::int64_t size = 2768;
  /// Parses "30000-32767"; returns nullopt if the text is not a range.
  static std::optional<PortRange> Parse(std::string_view text);
  std::string ToString() const;
  bool Contains(std::int64_t port) const { return port >= first && port < first + size; }
};

/// The allocated ports of a range, in the encoding of kube-apiserver's RangeAllocation: a big-endian number whose bit i
/// represents the port first+i. Not thread-safe.
class PortBitmap {
 public:
  PortBitmap(PortRange range, std::string bytes) : range_(range), bytes_(std::move(bytes)) {}
  bool Taken(std::int64_t port) const;
  void Set(std::int64_t port, bool taken);
  /// Allocates a free port, preferably one outside of the part that is reserved for explicit requests. Returns nullopt
  /// if no port is free.
  std::optional<std::int64_t> TakeAny(const meta::RandomBits& random);
  /// Returns the encoding without leading zeros.
  std::string Bytes() const;

 private:
  PortRange range_;
  std::string bytes_;
};

}  // namespace apimesh::core_api
