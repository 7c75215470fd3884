#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::cel {

/// The errors of an expression, with their positions in code points.
class Problems {
 public:
  static constexpr std::int32_t kNowhere = -1;

  explicit Problems(std::string_view source) : source_(source) {}
  void Add(std::int32_t position, std::string text);
  bool Empty() const { return problems_.empty(); }
  std::size_t Count() const { return count_; }
  /// "ERROR: <input>:1:5: text" with the line and a caret below it, for each error, in the order of their positions.
  std::string ToString() const;

 private:
  struct Problem {
    std::int32_t position;
    std::string text;
  };
  std::string_view source_;
  std::vector<Problem> problems_;  // at most 100
  std::size_t count_ = 0;
};

}  // namespace apimesh::cel
