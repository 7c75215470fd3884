#pragma once

#include <set>
#include <string>

#include "lib/admission/expressions/expression.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// The expressions of a stored object. An update may keep them even if a server of the previous version would not
/// understand them.
using StoredExpressions = std::set<std::string, std::less<>>;
/// Adds the texts of `field` in the elements of `list`.
void AddStored(const meta::json::object& holder, std::string_view list, std::string_view field, StoredExpressions& out);

/// Compiles the expressions of one policy or webhook and reports those that are invalid.
class ExpressionRules {
 public:
  /// `params`: whether expressions can use `params`; `composed`: whether they can use `variables`.
  ExpressionRules(bool params, bool composed)
      : params_(params), new_(cel::kCompatibilityMinor, composed), stored_(cel::kCurrentMinor, composed) {}

  struct Kind {
    admission::ExpressionResult result = admission::ExpressionResult::kBool;
    bool authorizer = true;
    bool patch_types = false;
    bool trimmed = false;       // white space at both ends is removed before compilation
    bool shown_trimmed = true;  // errors show the text that was compiled
  };
  /// Compiles the text of a field. `stored` has the expressions that are accepted in the current environment.
  void Check(const core_api::Check& holder, std::string_view field, const Kind& kind, const StoredExpressions& stored);
  /// Compiles the expression of a composed variable and declares the variable for the expressions that follow.
  void CheckVariable(const core_api::Check& variable, const StoredExpressions& stored);

 private:
  admission::ExpressionPtr Compile(std::string_view source, const Kind& kind, bool stored) const;

  const bool params_;
  admission::ExpressionScope new_, stored_;
};

}  // namespace apimesh::core_api
