#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::http2 {

/// Bytes that wait for the socket: copied bytes in one buffer, interleaved with pieces that other owners keep alive, so
/// that large bodies are never copied.
class OutputQueue {
 public:
  /// The number of bytes added since everything was last written.
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void Copy(std::string_view bytes);
  void Share(std::shared_ptr<const void> owner, std::string_view bytes);

  /// The remaining bytes in order. Nothing may be added until all of them are written.
  std::span<const std::string_view> Pieces();
  /// Reports that the socket has accepted the first `size` bytes of Pieces().
  void Written(std::size_t size);

 private:
  static constexpr std::size_t kKeptCapacity = 512 << 10;

  struct Part {
    const char* data;  // nullptr: the next `size` bytes of copied_, which may still be reallocated
    std::size_t size;
  };
  std::vector<Part> parts_;
  std::string copied_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::size_t size_ = 0;
  std::vector<std::string_view> pieces_;  // made from parts_ when all of them are added
  std::size_t first_ = 0;                 // the first entry of pieces_ that is not written
};

}  // namespace apimesh::http2
