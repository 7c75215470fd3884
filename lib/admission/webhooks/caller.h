#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/admission/all_plugins.h"
#include "lib/admission/expressions/authorizer_answers.h"
#include "lib/admission/matching/matcher.h"
#include "lib/admission/matching/versioned_objects.h"
#include "lib/admission/webhooks/condition_outcomes.h"
#include "lib/admission/webhooks/webhook.h"
#include "lib/admission/webhooks/webhook_metrics.h"

namespace apimesh::admission::webhooks {

/// Why a call does not admit the request.
struct CallError {
  enum class Type {
    kCallFailed,  // the webhook did not answer, or with something invalid: the failure policy decides
    kRejected,    // the webhook has rejected the request
    kInternal,    // the answer cannot be used; the failure policy does not apply
  };
  Type type = Type::kInternal;
  int code = 0;             // the HTTP status that metrics show
  meta::ApiError answer{};  // the error for the client
  bool refused_by_breaker = false;
};
/// The call of a webhook could not be made: "failed calling webhook …".
CallError CallFailed(const Webhook& webhook, std::string_view why, int code);

struct CallResult {
  std::optional<CallError> error;
  ReviewResponse response;  // if the webhook has answered
  std::string object;       // the JSON of the object that was sent
};

/// Decides whether a webhook is called for a request, and calls it. Thread-safe.
class Caller {
 public:
  Caller(const PluginInputs& inputs, Type type);

  /// State of one request that all its webhooks share. Used by one coroutine at a time.
  struct Request {
    Request(const Attributes& of, service::AuthClientPtr auth)
        : attributes(of), objects(of), labels(of), authorizer(std::move(auth)) {}
    /// Must be called after attributes.object has been changed.
    void ForgetObject() {
      objects.Forget();
      labels.Forget();
      conditions.Forget();
    }
    const Attributes& attributes;
    matching::VersionedObjects objects;
    matching::RequestLabels labels;
    AuthorizerAnswers authorizer;
    ConditionOutcomes conditions;
  };
  Request NewRequest(const Attributes& attributes) const { return {attributes, auth_}; }

  /// Reads what `request.labels` lacks to exclude webhooks by their namespace selectors.
  Task<> ReadNamespaceLabels(meta::RequestContext ctx, Request& request) const {
    return matcher_.ReadNamespaceLabels(std::move(ctx), request.attributes, request.labels);
  }
  /// Returns how the request matches, or nullopt if the webhook must not be called.
  Task<meta::Result<std::optional<matching::Match>>> ShouldCall(meta::RequestContext ctx, const Webhook& webhook,
                                                                Request& request) const;
  /// Returns true if ShouldCall() would return nullopt. This costs no coroutine, and clusters have many webhooks that
  /// exclude most requests. If it returns false, ShouldCall() decides, without evaluating the conditions again.
  bool Excludes(const meta::RequestContext& ctx, const Webhook& webhook, Request& request) const;
  /// Calls the webhook, reads its answer and records both in the metrics. `objects` are in the kind of the match. Does
  /// not change `ctx`, so that several calls can run at the same time.
  Task<CallResult> Call(meta::RequestContext ctx, const Webhook& webhook, matching::Match match,
                        const Attributes& attributes, matching::VersionedObjects::Pair objects) const;

  /// Applies the failure policy to an error and records the decision. Returns the error for the client, or nullopt if
  /// the failure is ignored. `position` identifies the webhook in audit annotations ("round_0_index_1").
  std::optional<meta::ApiError> ApplyFailurePolicy(const meta::RequestContext& ctx, const Webhook& webhook,
                                                   const Attributes& attributes, const CallError& error,
                                                   Duration elapsed, std::string_view position) const;
  /// Records a call that admits the request.
  void RecordSuccess(const Webhook& webhook, const Attributes& attributes, Duration elapsed) const;

  /// Runs `work`, which reads or applies an answer of this many bytes. A large answer is processed on the threads for
  /// large requests, one after the other for each user, because it takes hundreds of milliseconds, and the thread of
  /// the request serves others as well. The caller must await the result at once.
  Task<> Process(std::string_view user, std::size_t bytes, const std::function<void()>& work) const;

  SteadyTime Now() const { return clock_->Steady(); }

 private:
  struct Sent {
    std::optional<CallError> error;
    std::string body;  // of the response
  };
  /// Concludes and counts an outcome of the webhook's match conditions.
  meta::Result<std::optional<matching::Match>> Conclude(const Webhook& webhook, const matching::Match& match,
                                                        const Attributes& attributes,
                                                        const MatchConditions::Outcome& outcome) const;
  Task<Sent> Send(meta::RequestContext ctx, const Webhook& webhook, std::string body) const;

  const Type type_;
  const matching::Matcher matcher_;
  const service::AuthClientPtr auth_;
  const boost::asio::any_io_executor large_requests_;
  const Clock* const clock_;
  const WebhookMetrics metrics_;
};

/// Adds the warnings and audit annotations of an answer to the response and the audit event of the request.
void AddRemarks(const meta::RequestContext& ctx, const Webhook& webhook, const ReviewResponse& response);

}  // namespace apimesh::admission::webhooks
