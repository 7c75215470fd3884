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
  explicit SharedBytes(std::string bytes) {
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    view_ = *owner;
    owner_ = std::move(owner);
  }
  /// A part of something larger: `view` lies in what `owner` keeps alive.
  SharedBytes(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}

  std::string_view View() const { return view_; }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  /// Keeps the bytes alive for code that holds only a pointer into them.
  const std::shared_ptr<const void>& Owner() const& { return owner_; }
  std::shared_ptr<const void> Owner() && { return std::move(owner_); }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace apimesh
