#pragma once

#include <set>

#include "lib/meta/errors/field_error.h"
#include "services/extensions-api/validations/rule.h"

namespace apimesh::extensions_api {

/// The expressions of a definition that is updated. They were accepted before, possibly by a newer server, so they are
/// compiled with everything that this server knows; new ones with what the previous version knows.
struct StoredExpressions {
  std::set<std::string, std::less<>> rules, messages;
};
StoredExpressions FindExpressions(const meta::Object& crd);

/// Checks the expressions of one openAPIV3Schema: they must compile, and their estimated costs have limits, each and
/// together. Errors have kube-apiserver's texts.
class ExpressionRules {
 public:
  /// kube-apiserver's limits of estimated costs.
  static constexpr std::uint64_t kRuleCostLimit = 10'000'000, kSchemaCostLimit = 100'000'000;

  struct Options {
    const StoredExpressions* stored = nullptr;
    bool unchanged = false;  // the schema is stored already: the costs of single rules have no limit
  };
  explicit ExpressionRules(const Options& options) : options_(options) {}

  /// A schema on the way from the root to the schema that is checked. Refers to the scope of its parent.
  class Scope {
   public:
    explicit Scope(const meta::json::object& root);
    Scope Property(const meta::json::object& schema, std::string_view name) const;
    Scope Values(const meta::json::object& schema) const;
    /// `list` is the path of the list.
    Scope Items(const meta::json::object& schema, const meta::Path& list) const;

   private:
    friend class ExpressionRules;
    enum class Step { kRoot, kProperty, kValues, kItems };
    Scope(const Scope* parent, Step step, const meta::json::object& schema, std::string_view name);
    /// The type of self. Types are made for the outermost schema with rules, and nested schemas refer to them.
    const SelfType& Type() const;

    const Scope* const parent_;
    const Step step_;
    const meta::json::object& schema_;
    const std::string_view name_;
    bool has_rules_;                            // this schema or one around it
    std::optional<std::uint64_t> cardinality_;  // how many values an object can have at most; none: no limit
    const meta::Path* uncorrelated_ = nullptr;  // the outermost list around the schema whose items are not correlated
    mutable std::optional<SelfType> type_;
  };

  /// Checks the rules of a schema, without those of nested schemas.
  void Check(const Scope& scope, const meta::Path& path);
  /// Returns the errors of all schemas.
  meta::FieldErrors TakeErrors() { return std::move(errors_); }
  /// Returns errors if the sum of all costs is too large. `root` is the path of the root.
  meta::FieldErrors CheckTotal(const meta::Path& root) const;

 private:
  struct Cost {
    std::string path;
    std::uint64_t cost;
  };
  void CheckRule(const Scope& scope, const ValidationRule& rule, const SelfType& self, const meta::Path& path);
  void AddCost(const meta::Path& path, std::uint64_t cost, const char* what);

  const Options options_;
  meta::FieldErrors errors_;
  std::uint64_t total_ = 0;
  std::vector<Cost> most_expensive_;
};

}  // namespace apimesh::extensions_api
