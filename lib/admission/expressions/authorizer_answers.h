#pragma once

#include <map>
#include <optional>
#include <string>

#include "lib/base/async/task.h"
#include "lib/cel/library/authorizer.h"
#include "lib/meta/request/request_context.h"
#include "lib/service/auth_client.h"

namespace apimesh::admission {

/// Answers the authorization questions that the expressions of one request ask, each question once. Expressions are
/// evaluated without waiting: a question whose answer is not known yet gets a placeholder and stays open. The caller
/// then waits for Ask() and evaluates again. Not thread-safe.
///
/// The number of rounds is bounded, because each round answers a question and a check costs a third of what an
/// expression may cost.
class AuthorizerAnswers final : public cel::Authorizer {
 public:
  /// If `auth` is nullptr, every answer is an error.
  explicit AuthorizerAnswers(service::AuthClientPtr auth) : auth_(std::move(auth)) {}

  cel::AuthorizationAnswer Authorize(const cel::AuthorizationQuestion& question) const override;

  /// Returns whether an evaluation has asked a question that is not answered yet, so its result must not be used.
  bool HasOpenQuestion() const { return open_.has_value(); }
  /// Asks the open question.
  Task<void> Ask(meta::RequestContext ctx);

 private:
  service::AuthClientPtr auth_;
  std::map<std::string, cel::AuthorizationAnswer> answers_;
  // Only the first question: what an evaluation asks after a placeholder may be wrong.
  mutable std::optional<cel::AuthorizationQuestion> open_;
};

}  // namespace apimesh::admission
