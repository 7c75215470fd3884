#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "lib/codec/codec.h"

namespace apimesh::codec {

/// The place of a field as strict decoding names it: spec.containers[0].name.
class StrictPath {
 public:
  void PushKey(std::string_view key) {
    if (!text_.empty()) text_ += '.';
    text_ += key;
  }
  void PushIndex(std::size_t index) {
    const fmt::format_int digits(index);
    text_ += '[';
    text_.append(digits.data(), digits.size());
    text_ += ']';
  }
  std::string Child(std::string_view key) const { return text_.empty() ? std::string(key) : fmt::format("{}.{}", text_, key); }
  std::size_t Mark() const { return text_.size(); }
  void Reset(std::size_t mark) { text_.resize(mark); }
  const std::string& Text() const { return text_; }

 private:
  std::string text_;
};

/// `kind` is "unknown field" or "duplicate field". Each complaint is made once. Call strict.WantsMore() before making a path.
inline void AddComplaint(Strictness& strict, std::string_view kind, std::string_view path) {
  if (!strict.WantsMore()) return;
  strict.path_bytes += path.size() + 1;
  std::string text = fmt::format("{} {}", kind, meta::Quoted(path));
  if (std::find(strict.complaints.begin(), strict.complaints.end(), text) == strict.complaints.end()) {
    strict.complaints.push_back(std::move(text));
  }
}

}  // namespace apimesh::codec
