#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lib/admission/expressions/match_conditions.h"
#include "lib/admission/matching/criteria.h"
#include "lib/admission/matching/versioned_objects.h"

namespace apimesh::admission::webhooks {

/// The outcomes of the match conditions of webhooks for one request. Webhooks with equal conditions share an outcome.
/// Used by one coroutine at a time.
class ConditionOutcomes {
 public:
  /// Returns the outcome of conditions that are not empty, for the objects in the kind of `match`. The reference is
  /// valid until the next call. If the outcome is provisional, the caller lets `authorizer` ask and calls again.
  const MatchConditions::Outcome& Evaluate(const meta::RequestContext& ctx, const MatchConditions& conditions,
                                           const matching::Match& match,
                                           const matching::VersionedObjects::Pair& objects,
                                           const Attributes& attributes, const AuthorizerAnswers& authorizer);
  /// Must be called after the object has been changed.
  void Forget() {
    known_.clear();
    last_ = {};
  }

 private:
  struct Known {
    const MatchConditions* conditions;
    matching::Match match;
    MatchConditions::Outcome outcome;
  };
  /// `request` for one match. Only expressions that use it need it.
  struct RequestDocument {
    matching::Match match;
    meta::json::object document;
  };

  const meta::json::object* DocumentFor(const meta::RequestContext& ctx, const matching::Match& match,
                                        const Attributes& attributes);

  std::unordered_map<const void*, std::vector<Known>> known_;  // by the first expression
  Known last_{};                                               // for conditions that no other webhook has
  std::unique_ptr<cel::Evaluation> evaluation_;
  std::optional<RequestDocument> document_;
};

}  // namespace apimesh::admission::webhooks
