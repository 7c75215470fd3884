#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace apimesh::meta {

/// The path of a field, as a chain of steps on the stack of a recursive walk. A step is cheaper than a step of Path,
/// which copies the steps above it, but it refers to its parent and to the name that it was given, so both must outlive
/// it. ToString() builds the text when an error needs it.
class PathChain {
 public:
  PathChain() = default;

  PathChain Child(std::string_view name) const { return {this, Kind::kField, name, 0}; }
  PathChain Key(std::string_view key) const { return {this, Kind::kKey, key, 0}; }
  PathChain Index(std::size_t index) const { return {this, Kind::kIndex, {}, index}; }

  /// "spec.containers[0].name"; a key is written as "[key]".
  std::string ToString() const {
    std::string text;
    AppendTo(text);
    return text;
  }

 private:
  enum class Kind { kRoot, kField, kKey, kIndex };

  PathChain(const PathChain* parent, Kind kind, std::string_view name, std::size_t index)
      : parent_(parent), kind_(kind), name_(name), index_(index) {}

  void AppendTo(std::string& text) const {
    if (parent_) parent_->AppendTo(text);
    switch (kind_) {
      case Kind::kRoot: break;
      case Kind::kField:
        if (!text.empty()) text += '.';
        text += name_;
        break;
      case Kind::kKey:
        text += '[';
        text += name_;
        text += ']';
        break;
      case Kind::kIndex: {
        const fmt::format_int digits(index_);
        text += '[';
        text.append(digits.data(), digits.size());
        text += ']';
      }
    }
  }

  const PathChain* parent_ = nullptr;
  Kind kind_ = Kind::kRoot;
  std::string_view name_;
  std::size_t index_ = 0;
};

}  // namespace apimesh::meta
