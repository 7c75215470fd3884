#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// A format that texts can be checked against: format.dns1123Label().
class NamedFormat : public Opaque {
 public:
  using Check = std::vector<std::string> (*)(std::string_view text);
  NamedFormat(std::string name, Check check, std::uint64_t pattern_size)
      : name_(std::move(name)), check_(check), pattern_size_(pattern_size) {}

  std::string_view TypeName() const override { return "kubernetes.NamedFormat"; }
  bool Equals(const Opaque& other) const override { return name_ == static_cast<const NamedFormat&>(other).name_; }
  std::string ToString() const override { return fmt::format("format(\"{}\")", name_); }
  /// What is wrong with a text; empty if it is valid.
  std::vector<std::string> Validate(std::string_view text) const { return check_(text); }
  /// The size of the pattern that has the cost of the check.
  std::uint64_t PatternSize() const { return pattern_size_; }

 private:
  std::string name_;
  Check check_;
  std::uint64_t pattern_size_;
};

}  // namespace apimesh::cel
