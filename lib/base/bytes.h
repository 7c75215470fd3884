#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh {

/// Memory that another process shares with this one, and that it may revoke at any time. After that, the memory may
/// contain anything.
class RevocableMemory {
 public:
  virtual ~RevocableMemory() = default;
  /// Returns whether all bytes that were copied from the memory before this call are valid.
  virtual bool StillValid() const = 0;
};

/// Immutable bytes shared by any number of readers; a copy only increments a reference count. The read path passes them
/// from the watch cache to the socket without parsing them.
///
/// Bytes may be in revocable memory, but only where the code that receives them is prepared for it. That code copies
/// them (or encrypts or compresses them), and then asks StillValid() before it uses or sends the result.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::string bytes) {
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    data_ = owner->data();
    size_ = owner->size();
    owner_ = std::move(owner);
  }
  /// A part of a larger object: `view` refers to memory that `owner` keeps alive.
  SharedBytes(std::shared_ptr<const void> owner, std::string_view view)
      : owner_(std::move(owner)), data_(view.data()), size_(view.size()) {}
  /// Bytes in revocable memory.
  static SharedBytes InRevocableMemory(std::shared_ptr<const RevocableMemory> memory, std::string_view view) {
    SharedBytes bytes(std::move(memory), view);
    bytes.revocable_ = true;
    return bytes;
  }

  std::string_view View() const { return {data_, size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Keeps the bytes alive for code that holds only a pointer into them.
  const std::shared_ptr<const void>& Owner() const& { return owner_; }
  std::shared_ptr<const void> Owner() && { return std::move(owner_); }

  bool Revocable() const { return revocable_; }
  /// Returns whether a copy of the bytes that was made before this call is valid.
  bool StillValid() const { return !revocable_ || static_cast<const RevocableMemory*>(owner_.get())->StillValid(); }

 private:
  std::shared_ptr<const void> owner_;  // a RevocableMemory if revocable_ is set
  const char* data_ = nullptr;
  // One word for both: the watch cache holds several of these per object.
  std::size_t size_ : 63 = 0;
  std::size_t revocable_ : 1 = 0;
};

/// Returns whether any of the pieces is in revocable memory.
inline bool AnyRevocable(std::span<const SharedBytes> pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const SharedBytes& piece) { return piece.Revocable(); });
}

/// Returns whether copies of all pieces that were made before this call are valid.
bool StillValid(std::span<const SharedBytes> pieces);

/// Replaces pieces in revocable memory by copies. Returns false if the memory was revoked before they were copied; the
/// pieces must not be used then.
bool CopyRevocable(std::vector<SharedBytes>& pieces);

}  // namespace apimesh
