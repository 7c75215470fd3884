#pragma once

#include <mutex>

#include "services/extensions-api/validations/rule_metrics.h"
#include "services/extensions-api/validations/rule_tree.h"

namespace apimesh::extensions_api {

/// The rules of a served version, compiled when an object is first written: a server with many definitions starts fast,
/// and definitions whose objects are only read take little memory. Thread-safe.
class LazyRules {
 public:
  /// Returns nullptr if the schema has no rules. `node` is the compiled schema, which must outlive the result.
  static std::shared_ptr<const LazyRules> Make(const meta::json::object& schema, const schema::Node& node,
                                               RuleMetrics metrics = {});

  const RuleTree& Get() const;

 private:
  LazyRules(std::string text, const schema::Node& node, RuleMetrics metrics)
      : text_(std::move(text)), node_(node), metrics_(metrics) {}

  mutable std::string text_;  // the parts of the schema that rules and their types need; empty once they are compiled
  const schema::Node& node_;
  const RuleMetrics metrics_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const RuleTree> tree_;
};

}  // namespace apimesh::extensions_api
