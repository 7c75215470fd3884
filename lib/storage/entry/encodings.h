#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"

namespace apimesh::storage {

/// The time during which an encoding is valid. Most are always valid; one that contains ages is valid for a limited
/// time.
struct Validity {
  WallTime from = WallTime::min(), until = WallTime::max();
  bool At(WallTime now) const { return from <= now && now < until; }
};

/// Encodings of one object besides its JSON (protobuf, watch event, metadata only). An encoding is freed when it was
/// not used between two sweeps (30 to 60 seconds), and all encodings of a process together stay below kBudget. Names
/// that are equal up to a '#' form a family, of which only the kMaxPerFamily most recently used encodings are kept.
/// Thread-safe.
class Encodings : public std::enable_shared_from_this<Encodings> {
 public:
  static constexpr std::size_t kBudget = 128u << 20;
  static constexpr std::chrono::seconds kSweepInterval{30};  // unused for a complete interval: freed

  static std::shared_ptr<Encodings> New() { return std::make_shared<Encodings>(); }
  Encodings() = default;
  ~Encodings();
  Encodings(const Encodings&) = delete;

  /// Returns empty bytes (without owner) if there is no encoding that is valid at `now`.
  SharedBytes Find(std::string_view name, WallTime now = {});
  /// Keeps `bytes` and returns them; if another thread has kept an encoding with this name that is valid at
  /// `valid.from`, returns that one. If the budget is exhausted, `bytes` are not kept. Evicting encodings that are in
  /// use would let a list that is larger than the budget evict its own entries over and over.
  SharedBytes Keep(std::string_view name, SharedBytes bytes, Validity valid = {});

  /// Returns whether Keep() would keep this many bytes now.
  static bool HasRoom(std::size_t bytes);

  /// Must be called from time to time; frees unused encodings if an interval has passed.
  static void SweepUnused(SteadyTime now);
  /// Returns the number of bytes that this process keeps.
  static std::size_t Total();

 private:
  struct Encoding {
    std::string name;
    SharedBytes bytes;
    Validity valid;
    std::uint32_t sweep = 0;  // the sweep interval of the last use
  };
  static constexpr std::ptrdiff_t kMaxPerFamily = 4;
  Encoding TakeLeastRecentlyUsed(std::string_view family);
  /// Returns true if encodings are left.
  bool DropUnused(std::uint32_t sweep);

  std::mutex mutex_;
  std::vector<Encoding> encodings_;  // guarded by mutex_; there are only a few
};

}  // namespace apimesh::storage
