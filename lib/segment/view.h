#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"

namespace apimesh::segment {

/// The reader's end of a neighbour's segment. Thread-safe.
class View : public std::enable_shared_from_this<View> {
 public:
  /// `name` as its owner told it. nullptr if it can't be read from here: another machine, another user, gone.
  static std::shared_ptr<const View> Open(std::string_view name);
  ~View();
  View(const View&) = delete;

  const std::string& Id() const { return id_; }
  /// Empty if there is no such place.
  std::string_view At(std::uint64_t offset, std::uint64_t size) const;
  /// Pages that were read count as memory of this process too, until it forgets them: to be called now and then. Takes effect
  /// when nothing was read since the last call; what is read again comes back by itself.
  void ForgetUnused() const;
  /// Whether bytes that were copied before this call, from places that the lease covers, are what they should be.
  bool Holds(std::size_t slot, std::uint64_t lease) const;

 private:
  View(const char* base, std::size_t bytes, std::string id) : base_(base), bytes_(bytes), id_(std::move(id)) {}

  const char* const base_;
  const std::size_t bytes_;
  const std::string id_;
  mutable std::atomic<bool> read_ = false;     // since the last ForgetUnused()
  mutable std::atomic<bool> mapped_ = false;   // there may be pages to forget
};

}  // namespace apimesh::segment
