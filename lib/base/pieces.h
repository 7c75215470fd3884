#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"

namespace apimesh {

/// Builds a sequence of bytes from texts, which are copied, and from shared bytes, which are referenced unless they are
/// short.
class Pieces {
 public:
  void Text(std::string_view text);
  /// `part` refers to memory that `owner` keeps alive.
  void Shared(std::shared_ptr<const void> owner, std::string_view part);
  void Shared(const SharedBytes& whole, std::string_view part) { Shared(whole.Owner(), part); }
  void Shared(const SharedBytes& whole) { Shared(whole, whole.View()); }

  std::size_t size() const { return size_; }
  /// The number of bytes that were copied.
  std::size_t Copied() const { return copied_; }
  /// Returns the pieces so far and resets this object.
  std::vector<SharedBytes> Take();
  std::string Join();

 private:
  static constexpr std::size_t kCopyBelow = 512;
  static constexpr std::size_t kChunkBytes = 4096;

  std::vector<SharedBytes> pieces_;
  std::shared_ptr<std::string> chunk_;  // never grows beyond its capacity, so views into it stay valid
  std::size_t open_ = 0;                // the start of the part of chunk_ that is not in pieces_ yet
  std::size_t size_ = 0;
  std::size_t copied_ = 0;
  void CloseText();
};

}  // namespace apimesh
