#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace apimesh {

/// Numbers distinct texts in the order in which they are added, and finds a text among them. A client's list may have
/// hundreds of thousands of items, so there is no allocation per text. Up to kFew texts are compared one by one; more
/// are found with SeededHash, because a client may choose texts that collide. The texts must outlive the index.
class TextIndex {
 public:
  struct Added {
    std::size_t position;  // of the first equal text
    bool is_new;
  };
  Added Add(std::string_view text);
  /// The position of a text; nullopt if it was not added.
  std::optional<std::size_t> Find(std::string_view text) const;
  bool Contains(std::string_view text) const { return Find(text).has_value(); }
  std::string_view operator[](std::size_t position) const { return texts_[position]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // position + 1; 0: the slot is free
  };
  static constexpr std::size_t kFew = 16;

  /// The slot of a text, or the free slot in which it must be stored.
  std::size_t SlotOf(std::string_view text, std::uint32_t hash) const;
  void Grow();

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // the number of slots is a power of two, at most two thirds are used; empty while there
                             // are at most kFew texts
};

}  // namespace apimesh
