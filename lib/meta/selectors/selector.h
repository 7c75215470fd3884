#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/api_error.h"

namespace apimesh::meta {

using Labels = std::vector<std::pair<std::string, std::string>>;  // sorted by key

struct Requirement {
  enum class Op { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  std::string key;
  Op op;
  std::vector<std::string> values;  // sorted
};

/// A label selector: all requirements must hold. An empty selector matches everything.
class LabelSelector {
 public:
  /// Parses the syntax of query parameters: "a=b,c!=d,e in (f,g),!h". Errors have kube-apiserver's texts.
  static Result<LabelSelector> Parse(std::string_view text);
  /// Reads a metav1.LabelSelector (matchLabels, matchExpressions).
  static Result<LabelSelector> FromObject(const boost::json::object& selector);

  bool Matches(const Labels& labels) const;
  bool Empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& Requirements() const { return requirements_; }
  /// Returns the canonical text: equal selectors have equal texts.
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;
};

/// A field selector: "metadata.name=x,status.phase!=Running", with \\ escapes. All terms must hold.
class FieldSelector {
 public:
  struct Term {
    std::string field;
    bool equal;
    std::string value;
  };
  static Result<FieldSelector> Parse(std::string_view text);

  using Lookup = std::function<std::string_view(std::string_view field)>;
  bool Matches(const Lookup& lookup) const;
  bool Empty() const { return terms_.empty(); }
  const std::vector<Term>& Terms() const { return terms_; }
  /// Returns the value that a term requires `field` to have; nullptr if there is no such term.
  const std::string* RequiresExactMatch(std::string_view field) const;
  std::string ToString() const;

 private:
  std::vector<Term> terms_;
};

}  // namespace apimesh::meta
