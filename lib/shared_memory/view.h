#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"

namespace apimesh::shared_memory {

/// The reader's side of a peer process's segment. Thread-safe.
class View : public std::enable_shared_from_this<View> {
 public:
  /// Opens the segment with this name. Returns nullptr if it cannot be read: the owner is on another machine, belongs
  /// to another user or has exited.
  static std::shared_ptr<const View> Open(std::string_view name);
  ~View();
  View(const View&) = delete;

  const std::string& Id() const { return id_; }
  /// Returns an empty view if the range is not inside the segment.
  std::string_view At(std::uint64_t offset, std::uint64_t size) const;
  /// Unmaps pages if none were read since the last call. Pages that were read count as memory of this process until
  /// they are unmapped, so this should be called regularly. Unmapped pages can be read again at any time.
  void ReleaseUnusedPages() const;
  /// Returns whether bytes that were copied before this call from ranges of this lease are valid.
  bool LeaseIsValid(std::size_t slot, std::uint64_t lease) const;

 private:
  View(const char* base, std::size_t bytes, std::string id) : base_(base), bytes_(bytes), id_(std::move(id)) {}

  const char* const base_;
  const std::size_t bytes_;
  const std::string id_;
  mutable std::atomic<bool> read_ = false;    // since the last ReleaseUnusedPages()
  mutable std::atomic<bool> mapped_ = false;  // there may be pages to release
};

/// The memory of one lease. It is revoked when the owner ends the lease.
class LeasedMemory final : public RevocableMemory {
 public:
  LeasedMemory(std::shared_ptr<const shared_memory::View> view, std::size_t slot, std::uint64_t lease)
      : view_(std::move(view)), slot_(slot), lease_(lease) {}

  const shared_memory::View& View() const { return *view_; }
  bool StillValid() const override { return view_->LeaseIsValid(slot_, lease_); }

 private:
  const std::shared_ptr<const shared_memory::View> view_;
  const std::size_t slot_;
  const std::uint64_t lease_;
};

}  // namespace apimesh::shared_memory
