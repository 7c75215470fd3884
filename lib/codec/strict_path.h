#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "lib/codec/codec.h"

namespace apimesh::codec {

/// The path of a field in the format of strict decoding: spec.containers[0].name. The text is created only for
/// complaints. Keys are referenced, not copied, so they must outlive the path.
class StrictPath {
 public:
  void PushKey(std::string_view key) { steps_.push_back({key.empty() ? "" : key.data(), key.size()}); }
  void PushIndex(std::size_t index) { steps_.push_back({nullptr, index}); }
  std::string Child(std::string_view key) const {
    std::string text = Text();
    if (!text.empty()) text += '.';
    text += key;
    return text;
  }
  std::size_t Mark() const { return steps_.size(); }
  void Reset(std::size_t mark) { steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(mark), steps_.end()); }
  std::string Text() const {
    std::string text;
    for (const Step& step : steps_) {
      if (step.key) {
        if (!text.empty()) text += '.';
        text.append(step.key, step.size);
      } else {
        const fmt::format_int digits(step.size);
        text += '[';
        text.append(digits.data(), digits.size());
        text += ']';
      }
    }
    return text;
  }

 private:
  struct Step {
    const char* key;   // nullptr for an item of a list
    std::size_t size;  // the size of the key, or the index of an item
  };
  boost::container::small_vector<Step, 16> steps_;
};

/// Adds a complaint unless it is already present. `kind` is "unknown field" or "duplicate field". Call
/// strict.WantsMore() before creating the path.
inline void AddComplaint(Strictness& strict, std::string_view kind, std::string_view path) {
  if (!strict.WantsMore()) return;
  strict.path_bytes += path.size() + 1;
  std::string text = fmt::format("{} {}", kind, meta::Quoted(path));
  if (std::find(strict.complaints.begin(), strict.complaints.end(), text) == strict.complaints.end()) {
    strict.complaints.push_back(std::move(text));
  }
}

}  // namespace apimesh::codec
