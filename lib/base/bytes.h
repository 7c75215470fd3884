#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace apimesh {

/// Immutable bytes shared by any number of readers; copying one is a reference count. The read path hands these on
/// from the watch cache to the socket without looking inside.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::string bytes)
      : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}

  std::string_view View() const { return bytes_ ? std::string_view(*bytes_) : std::string_view(); }
  std::size_t size() const { return bytes_ ? bytes_->size() : 0; }
  bool empty() const { return size() == 0; }
  /// Keeps the bytes alive for code that holds only a pointer into them.
  std::shared_ptr<const std::string> Owner() const { return bytes_; }

 private:
  std::shared_ptr<const std::string> bytes_;
};

}  // namespace apimesh
