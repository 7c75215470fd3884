#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"

namespace apimesh::storage {

/// When a form is right: most always are, one that shows ages is for a while.
struct Validity {
  WallTime from = WallTime::min(), until = WallTime::max();
  bool At(WallTime now) const { return from <= now && now < until; }
};

/// Other encodings of one object (protobuf, a watch event, metadata only), kept while they are used: those that nobody asked for in
/// some minutes are given back, and all of a process together stay below a number of bytes. Names that differ only after a '#' are a family:
/// forms that replace each other, of which few are kept. Thread-safe.
class Forms : public std::enable_shared_from_this<Forms> {
 public:
  static constexpr std::size_t kBudget = 128u << 20;
  static constexpr std::chrono::seconds kRound{30};  // what was not used in a whole round goes at its end

  static std::shared_ptr<Forms> New() { return std::make_shared<Forms>(); }
  Forms() = default;
  ~Forms();
  Forms(const Forms&) = delete;

  /// Empty (no owner) if there is none that is right at `now`.
  SharedBytes Find(std::string_view name, WallTime now = {});
  /// The same bytes, or those that another one has kept under this name meanwhile, if they are right at `valid.from`. Where the
  /// budget is used up they are not kept: throwing out what others use would make a list that is larger than the budget push
  /// itself out again and again.
  SharedBytes Keep(std::string_view name, SharedBytes bytes, Validity valid = {});

  /// Whether Keep() would keep so much now.
  static bool HasRoom(std::size_t bytes);

  /// To be called now and then: ends a round where it is due.
  static void EndRound(SteadyTime now);
  /// Kept in this process, in bytes.
  static std::size_t Total();

 private:
  struct Form {
    std::string name;
    SharedBytes bytes;
    Validity valid;
    std::uint32_t round = 0;  // when it was used last
  };
  static constexpr std::ptrdiff_t kFamily = 4;
  Form TakeOldestOf(std::string_view family);
  /// True: something is left.
  bool DropUnused(std::uint32_t round);

  std::mutex mutex_;
  std::vector<Form> forms_;  // guarded by mutex_; few
};

}  // namespace apimesh::storage
