#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::cel {

/// The memory of one evaluation, which is released as a whole.
class Arena {
 public:
  Arena() : memory_(first_, sizeof(first_)) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { Destroy(); }

  /// A new object that is never destroyed, so it must not own anything.
  template <typename T, typename... Args>
  T* New(Args&&... args) {
    return new (memory_.allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  /// A new object that is destroyed with the arena.
  template <typename T, typename... Args>
  T* NewOwned(Args&&... args) {
    T* out = New<T>(std::forward<Args>(args)...);
    owned_.emplace_back(out, [](void* object) { static_cast<T*>(object)->~T(); });
    return out;
  }
  template <typename T>
  T* NewArray(std::size_t count) {
    T* out = static_cast<T*>(memory_.allocate(sizeof(T) * (count ? count : 1), alignof(T)));
    for (std::size_t i = 0; i < count; ++i) new (out + i) T();
    return out;
  }
  char* NewChars(std::size_t size) { return static_cast<char*>(memory_.allocate(size ? size : 1, 1)); }
  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    char* out = NewChars(text.size());
    std::memcpy(out, text.data(), text.size());
    return {out, text.size()};
  }
  /// Releases everything that was allocated.
  void Clear() {
    Destroy();
    memory_.release();
  }

 private:
  void Destroy() {
    for (const auto& [object, destroy] : owned_) destroy(object);
    owned_.clear();
  }

  alignas(std::max_align_t) char first_[2048];
  std::pmr::monotonic_buffer_resource memory_;
  std::vector<std::pair<void*, void (*)(void*)>> owned_;
};

}  // namespace apimesh::cel
