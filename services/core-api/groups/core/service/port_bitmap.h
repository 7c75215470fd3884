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
  /// "30000-32767"; nullopt if it is not that.
  static std::optional<PortRange> Parse(std::string_view text);
  std::string ToString() const;
  bool Contains(std::int64_t port) const { return port >= first && port < first + size; }
};

/// Which ports of a range are taken, in the form of the reference's RangeAllocation: a big-endian number whose bit i is
/// port first+i. Not thread-safe.
class PortBitmap {
 public:
  PortBitmap(PortRange range, std::string bytes) : range_(range), bytes_(std::move(bytes)) {}
  bool Taken(std::int64_t port) const;
  void Set(std::int64_t port, bool taken);
  /// Takes a free port, first of the part that is not meant for users who ask for one; nullopt: none is left.
  std::optional<std::int64_t> TakeAny(const meta::RandomBits& random);
  /// Without leading zeros.
  std::string Bytes() const;

 private:
  PortRange range_;
  std::string bytes_;
};

}  // namespace apimesh::core_api
