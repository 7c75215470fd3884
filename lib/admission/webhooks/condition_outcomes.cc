#include "lib/admission/webhooks/condition_outcomes.h"

#include "lib/admission/expressions/request_variable.h"

namespace apimesh::admission::webhooks {

const meta::json::object* ConditionOutcomes::DocumentFor(const meta::RequestContext& ctx, const matching::Match& match,
                                                         const Attributes& attributes) {
  if (!document_ || document_->match != match)
    document_ = RequestDocument{match, RequestVariable(ctx, attributes, match.kind, match.resource)};
  return &document_->document;
}

const MatchConditions::Outcome& ConditionOutcomes::Evaluate(const meta::RequestContext& ctx,
                                                            const MatchConditions& conditions,
                                                            const matching::Match& match,
                                                            const matching::VersionedObjects::Pair& objects,
                                                            const Attributes& attributes,
                                                            const AuthorizerAnswers& authorizer) {
  const auto is_wanted = [&](const Known& known) {
    return known.conditions && known.match == match && known.conditions->HasExpressionsOf(conditions);
  };
  if (is_wanted(last_) && !last_.outcome.provisional) return last_.outcome;
  const bool shared = conditions.MayBeShared();
  if (shared) {
    for (const Known& known : known_[conditions.FirstExpression()]) {
      if (is_wanted(known)) return known.outcome;
    }
  }
  if (evaluation_) {
    evaluation_->arena.Clear();
  } else {
    evaluation_ = std::make_unique<cel::Evaluation>();
  }
  ExpressionInputs inputs;
  inputs.object = objects.object ? &objects.object->Root() : nullptr;
  inputs.old_object = objects.old_object ? &objects.old_object->Root() : nullptr;
  if (conditions.UsesRequest()) inputs.request = DocumentFor(ctx, match, attributes);
  if (conditions.UsesAuthorizer()) inputs.authorizer = &authorizer;
  inputs.attributes = &attributes;
  last_ = {&conditions, match, conditions.Evaluate(inputs, nullptr, *evaluation_)};
  if (shared && !last_.outcome.provisional) known_[conditions.FirstExpression()].push_back(last_);
  return last_.outcome;
}

}  // namespace apimesh::admission::webhooks
