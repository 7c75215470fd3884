#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace apimesh::aggregator {

/// Text pages that parts of the edge add to its paths, for diagnosis. They are authorized like every other path.
/// Thread-safe.
class Pages {
 public:
  /// Returns the text of a page. `query` is raw.
  using Page = std::function<std::string(std::string_view query)>;

  void Add(std::string path, Page page) {
    const std::lock_guard lock(mutex_);
    pages_[std::move(path)] = std::move(page);
  }
  /// Returns nullptr if there is no such page.
  Page Find(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    const auto found = pages_.find(path);
    return found == pages_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Page, std::less<>> pages_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
