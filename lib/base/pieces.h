#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"

namespace apimesh {

/// Bytes put together from texts, which are copied, and from shared bytes, which are referred to unless they are short.
class Pieces {
 public:
  void Text(std::string_view text);
  /// `part` lies in what `owner` keeps.
  void Shared(std::shared_ptr<const void> owner, std::string_view part);
  void Shared(const SharedBytes& whole, std::string_view part) { Shared(whole.Owner(), part); }
  void Shared(const SharedBytes& whole) { Shared(whole, whole.View()); }

  std::size_t size() const { return size_; }
  /// How much of it are copies.
  std::size_t Copied() const { return copied_; }
  /// What there is so far; it begins again with nothing.
  std::vector<SharedBytes> Take();
  std::string Join();

 private:
  static constexpr std::size_t kCopyBelow = 512;
  static constexpr std::size_t kChunkBytes = 4096;

  std::vector<SharedBytes> pieces_;
  std::shared_ptr<std::string> chunk_;  // never grows beyond its capacity, so views into it stay
  std::size_t open_ = 0;                // what of the chunk is not in pieces_ yet begins here
  std::size_t size_ = 0;
  std::size_t copied_ = 0;
  void CloseText();
};

}  // namespace apimesh
