#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/base/text/text_index.h"

namespace apimesh::codec {

/// Finds duplicate keys of one object. The keys are stored in a vector that the parser shares between all open objects;
/// those of this object start at `first`. A few keys are compared one by one, many keys use an index.
class KeySet {
 public:
  explicit KeySet(std::size_t first) : first_(first) {}

  std::size_t First() const { return first_; }

  /// Appends `key` to `keys`. Returns false if the object already has the key.
  bool Add(std::vector<std::string_view>& keys, std::string_view key) {
    const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(first_);
    const bool is_new = many_ ? many_->Add(key).is_new : std::find(begin, keys.end(), key) == keys.end();
    keys.push_back(key);
    if (!many_ && keys.size() - first_ > kManyKeys) {
      many_ = std::make_unique<TextIndex>();
      for (std::size_t i = first_; i < keys.size(); ++i) many_->Add(keys[i]);
    }
    return is_new;
  }

 private:
  static constexpr std::size_t kManyKeys = 24;

  std::size_t first_;
  std::unique_ptr<TextIndex> many_;
};

}  // namespace apimesh::codec
