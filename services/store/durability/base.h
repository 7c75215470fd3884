#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/store/durability/entry.h"
#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// The bulk of the data, in LMDB: changes by revision (without values, so that a start need not read those), values by
/// revision, leases, and a few numbers. Written in the background from finished log segments, many entries a commit.
class Base {
 public:
  struct Options {
    bool sync = true;
    std::uint64_t map_bytes = 64ull << 30;  // address space, not disk
  };
  /// A consistent view. Any thread, one at a time; destroy it soon, as it keeps old pages from being used again.
  class View {
   public:
    virtual ~View() = default;
    /// The value written by `id`; empty if there is none. Valid as long as the view.
    virtual std::string_view Value(ChangeId id) const = 0;
    /// Changes with from <= id, in order, until `visit` returns false. Values are filled in only if asked for.
    virtual void Scan(ChangeId from, bool with_values, const std::function<bool(const Change&)>& visit) const = 0;
    virtual void Leases(const std::function<void(LeaseId, std::int64_t ttl)>& visit) const = 0;
    virtual std::int64_t Number(std::string_view name) const = 0;  // 0: never set
    virtual std::uint64_t Changes() const = 0;
  };
  /// One write transaction; nothing is changed unless Commit() is reached.
  class Writer : public StateVisitor {
   public:
    virtual void Erase(ChangeId id) = 0;
    virtual void SetNumber(std::string_view name, std::int64_t value) = 0;
    virtual void Commit() = 0;
  };

  static constexpr std::string_view kSequence = "sequence";     // of the last log entry that is in the base
  static constexpr std::string_view kRevision = "revision";
  static constexpr std::string_view kCompacted = "compacted";
  static constexpr std::string_view kNoSpace = "nospace";

  virtual ~Base() = default;
  virtual std::unique_ptr<View> OpenView() const = 0;
  virtual std::unique_ptr<Writer> OpenWriter() = 0;
  virtual std::uint64_t FileBytes() const = 0;
  virtual std::uint64_t UsedBytes() const = 0;
  /// Writes a copy without free pages to `folder`, which must exist.
  virtual void CopyCompact(const std::filesystem::path& folder) const = 0;

  /// Throws std::runtime_error.
  static std::unique_ptr<Base> Open(const std::filesystem::path& folder, Options options);
};

}  // namespace apimesh::store
