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

struct MDB_env;
struct MDB_txn;

namespace apimesh::store {

/// The bulk of the data, in LMDB: changes by revision (without values, so that a start need not read values), values by
/// revision, leases and a few numbers. It is written in the background from complete log segments, with many entries
/// per commit.
class Base final {
  struct Tables {
    unsigned changes = 0, values = 0, leases = 0, numbers = 0;  // handles of LMDB
  };

 public:
  struct Options {
    bool sync = true;
    std::uint64_t map_bytes = 64ull << 30;  // address space, not disk space
  };
  /// A consistent view. May be used from any thread, but only one at a time. It prevents the reuse of old pages, so it
  /// should be destroyed soon.
  class View final {
   public:
    ~View();
    View(const View&) = delete;
    /// Returns the value that was written by `id`; empty if there is none. Valid as long as the view.
    std::string_view Value(ChangeId id) const;
    /// Visits changes with from <= id in order until `visit` returns false. Values are set only if requested.
    void Scan(ChangeId from, bool with_values, const std::function<bool(const Change&)>& visit) const;
    void Leases(const std::function<void(LeaseId, std::int64_t ttl)>& visit) const;
    std::int64_t Number(std::string_view name) const;  // 0: never set
    std::uint64_t Changes() const;

   private:
    friend class Base;
    View(MDB_env* env, const Tables& tables);

    const Tables& tables_;
    MDB_txn* txn_ = nullptr;
  };
  /// One write transaction. Nothing is changed unless Commit() is called.
  class Writer final : public StateVisitor {
   public:
    ~Writer() override;
    Writer(const Writer&) = delete;
    void OnChange(const Change& change) override;
    void OnLeaseGranted(LeaseId id, std::int64_t ttl) override;
    void OnLeaseRevoked(LeaseId id) override;
    void OnCompacted(Revision revision) override;
    void OnAlarm(int alarm, bool active) override;
    void Erase(ChangeId id);
    void SetNumber(std::string_view name, std::int64_t value);
    void Commit();

   private:
    friend class Base;
    Writer(MDB_env* env, const Tables& tables);

    const Tables& tables_;
    MDB_txn* txn_ = nullptr;
    Revision revision_ = 0;
  };

  static constexpr std::string_view kSequence = "sequence";  // of the last log entry that is in the base
  static constexpr std::string_view kRevision = "revision";
  static constexpr std::string_view kCompacted = "compacted";
  static constexpr std::string_view kNoSpace = "nospace";

  /// Throws std::runtime_error.
  static std::unique_ptr<Base> Open(const std::filesystem::path& folder, Options options);
  ~Base();
  Base(const Base&) = delete;

  std::unique_ptr<View> OpenView() const;
  std::unique_ptr<Writer> OpenWriter();
  std::uint64_t FileBytes() const;
  std::uint64_t UsedBytes() const;
  /// Writes a copy without free pages to `folder`, which must exist.
  void CopyCompact(const std::filesystem::path& folder) const;

 private:
  Base(const std::filesystem::path& folder, Options options);
  std::uint64_t PageBytes() const;

  MDB_env* env_ = nullptr;
  Tables tables_;
};

}  // namespace apimesh::store
