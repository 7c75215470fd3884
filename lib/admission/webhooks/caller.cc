#include "lib/admission/webhooks/caller.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "lib/admission/webhooks/bypass.h"
#include "lib/base/async/user_executors.h"
#include "lib/base/log.h"
#include "lib/mesh/large_body.h"
#include "lib/meta/names.h"
#include "lib/meta/uuid.h"

namespace apimesh::admission::webhooks {
namespace {

using http_code = http::ClientError::Code;

/// A call that times out earlier than this says nothing about the webhook: the request itself had no time left.
constexpr Duration kSlow = std::chrono::seconds(1);
/// The audit annotations of one answer. Each is compared with those that the event already has.
constexpr std::size_t kMaxAnnotations = 1000, kMaxAnnotationBytes = 1 << 20;
/// A call of a webhook without its own timeout.
constexpr Duration kDefaultTimeout = std::chrono::seconds(30);

constexpr std::string_view kMutatingFailedOpen = "failed-open.mutation.webhook.admission.k8s.io/";
constexpr std::string_view kValidatingFailedOpen = "failed-open.validating.webhook.admission.k8s.io/";
constexpr std::string_view kBypassed = "bypassed.webhook.admission.apimesh.io/";

meta::Result<std::string> JsonOf(const meta::Object* object, const Attributes& attributes) {
  if (!object) return std::string("null");
  if (!attributes.versions) return meta::InternalError("the resource has no schema");
  return attributes.versions->ToJson(*object);
}

Task<> Run(const std::function<void()>& work) {
  work();
  co_return;
}

CallResult Failure(CallError error) {
  CallResult result;
  result.error = std::move(error);
  return result;
}

}  // namespace

CallError CallFailed(const Webhook& webhook, std::string_view why, int code) {
  return {CallError::Type::kCallFailed, code,
          meta::InternalError(fmt::format("failed calling webhook {}: {}", meta::Quoted(webhook.name), why))};
}

Caller::Caller(const PluginInputs& inputs, Type type)
    : type_(type),
      matcher_(inputs.objects),
      auth_(inputs.auth),
      large_requests_(inputs.large_requests),
      clock_(inputs.clock),
      metrics_(inputs.metrics, type == Type::kMutating ? "admit" : "validating") {}

meta::Result<std::optional<matching::Match>> Caller::Conclude(const Webhook& webhook, const matching::Match& match,
                                                              const Attributes& attributes,
                                                              const MatchConditions::Outcome& outcome) const {
  const MatchConditions::Result result = webhook.conditions.Conclude(outcome, &attributes);
  if (!result.error.empty())
    return meta::Forbidden(attributes.resource.GroupResource(), attributes.RequestName(), result.error);
  if (result.matches) return std::optional(match);
  webhook.conditions.CountExclusion(attributes.operation);
  return std::optional<matching::Match>();
}

bool Caller::Excludes(const meta::RequestContext& ctx, const Webhook& webhook, Request& request) const {
  const auto match = matching::Matcher::MatchNow(webhook.criteria, request.attributes, request.labels);
  if (!match || !*match) return false;
  const std::optional<matching::Match>& found = **match;
  if (!found) return true;
  const Attributes& attributes = request.attributes;
  if (webhook.conditions.Empty() || found->kind != attributes.kind) return false;
  const MatchConditions::Outcome& outcome =
      request.conditions.Evaluate(ctx, webhook.conditions, *found, {attributes.object, attributes.old_object},
                                  request.attributes, request.authorizer);
  // Other outcomes are concluded by ShouldCall(), so that each is counted once.
  if (outcome.provisional || !outcome.excluded_by) return false;
  (void)Conclude(webhook, *found, attributes, outcome);
  return true;
}

Task<meta::Result<std::optional<matching::Match>>> Caller::ShouldCall(meta::RequestContext ctx, const Webhook& webhook,
                                                                      Request& request) const {
  const Attributes& attributes = request.attributes;
  const meta::Result<std::optional<matching::Match>> match =
      co_await matcher_.Match(ctx, webhook.criteria, attributes, request.labels);
  if (!match || !*match || webhook.conditions.Empty()) co_return match;
  ASSIGN_OR_CO_RETURN(const matching::VersionedObjects::Pair objects, co_await request.objects.In(ctx, (*match)->kind));
  for (;;) {
    const MatchConditions::Outcome& outcome =
        request.conditions.Evaluate(ctx, webhook.conditions, **match, objects, attributes, request.authorizer);
    if (!outcome.provisional) co_return Conclude(webhook, **match, attributes, outcome);
    co_await request.authorizer.Ask(ctx);
  }
}

Task<Caller::Sent> Caller::Send(meta::RequestContext ctx, const Webhook& webhook, std::string body) const {
  const SteadyTime start = Now();
  if (std::optional<std::string> message = webhook.breaker->Refuse(start)) {
    metrics_.CountRefusedCall(webhook.name);
    CallError error = CallFailed(webhook, *message, 503);
    error.refused_by_breaker = true;
    co_return Sent{std::move(error), ""};
  }
  const Duration timeout = webhook.timeout ? Duration(*webhook.timeout) : kDefaultTimeout;
  const SteadyTime deadline = std::min(start + timeout, ctx.Deadline());
  service::WebhookResponse response = co_await webhook.client->PostUntil(std::move(body), deadline);
  if (response.code != 0) {
    webhook.breaker->Succeeded();
  } else {
    const bool timed_out = response.failure == http_code::kTimeout, slow = Now() - start >= std::min(kSlow, timeout);
    if (!timed_out || slow) webhook.breaker->Failed(Now(), "failed to call webhook: " + response.error, timed_out);
  }
  if (response.error.empty()) co_return Sent{std::nullopt, std::move(response.body)};
  const int code = response.code == 0 ? 503 : response.code;
  co_return Sent{CallFailed(webhook, "failed to call webhook: " + response.error, code), ""};
}

Task<CallResult> Caller::Call(meta::RequestContext ctx, const Webhook& webhook, matching::Match match,
                              const Attributes& attributes, matching::VersionedObjects::Pair objects) const {
  if (attributes.dry_run && !webhook.allows_dry_run)
    co_return Failure(CallFailed(webhook, "Webhook SideEffects is nil", 400));
  if (attributes.dry_run && !*webhook.allows_dry_run) {
    const std::string why = fmt::format("admission webhook {} does not support dry run", meta::Quoted(webhook.name));
    co_return Failure({CallError::Type::kInternal, 0, meta::BadRequest(why)});
  }
  if (!webhook.version) {
    co_return Failure(CallFailed(webhook,
                                 "could not create admission objects: webhook does not accept known AdmissionReview "
                                 "versions (v1, v1beta1)",
                                 400));
  }
  ReviewRequest request{*webhook.version, meta::NewUuid(), std::move(match), "", ""};
  meta::Result<std::string> object = JsonOf(objects.object, attributes);
  meta::Result<std::string> old_object = JsonOf(objects.old_object, attributes);
  if (!object || !old_object)
    co_return Failure({CallError::Type::kInternal, 0, object ? old_object.error() : object.error()});
  request.object = std::move(*object);
  request.old_object = std::move(*old_object);

  const Sent sent = co_await Send(ctx, webhook, WriteReview(request, attributes, ctx.User()));
  if (sent.error) co_return Failure(*sent.error);
  std::optional<ReviewResult<ReviewResponse>> review;
  const std::function<void()> work = [&] {
    review = ReadReview(sent.body, request.version, request.uid, type_ == Type::kMutating);
  };
  co_await Process(ctx.User().name, sent.body.size(), work);
  ReviewResult<ReviewResponse>& read = *review;
  if (!read) {
    const std::string_view head =
        read.error().undecodable ? "failed to call webhook: " : "received invalid webhook response: ";
    co_return Failure(CallFailed(webhook, fmt::format("{}{}", head, read.error().message), 503));
  }
  CallResult result;
  result.response = std::move(*read);
  result.object = std::move(request.object);
  if (!result.response.allowed) {
    const meta::ApiError rejection = RejectionOf(webhook.name, result.response.result);
    result.error = CallError{CallError::Type::kRejected, rejection.Code(), rejection};
  }
  co_return result;
}

Task<> Caller::Process(std::string_view user, std::size_t bytes, const std::function<void()>& work) const {
  if (!large_requests_ || bytes <= mesh::kLargeBodyBytes) return Run(work);
  return boost::asio::co_spawn(ExecutorOfUser(large_requests_, user), Run(work), boost::asio::use_awaitable);
}

std::optional<meta::ApiError> Caller::ApplyFailurePolicy(const meta::RequestContext& ctx, const Webhook& webhook,
                                                         const Attributes& attributes, const CallError& error,
                                                         Duration elapsed, std::string_view position) const {
  const bool failed = error.type == CallError::Type::kCallFailed;
  const bool bypassed = failed && !webhook.fails_open && IsBypassed(webhook.bypassed_until, clock_->Now());
  const bool ignored = failed && (webhook.fails_open || bypassed);
  if (!error.refused_by_breaker)
    metrics_.ObserveCall(webhook.name, attributes.operation, !ignored, error.code, elapsed);
  if (!ignored) {
    using Rejection = WebhookMetrics::Rejection;
    const Rejection why = failed                                     ? Rejection::kCallFailed
                          : error.type == CallError::Type::kRejected ? Rejection::kByWebhook
                                                                     : Rejection::kInternalError;
    metrics_.CountRejection(webhook.name, attributes.operation, why, error.code);
    if (failed) log::Warning("Failed calling webhook, failing closed {}: {}", webhook.name, error.answer.Message());
    return error.answer;
  }
  log::Warning("Failed calling webhook, {} {}: {}", bypassed ? "bypassed by an administrator" : "failing open",
               webhook.name, error.answer.Message());
  if (bypassed) {
    metrics_.CountBypass(webhook.name);
    ctx.AddAuditAnnotation(fmt::format("{}{}", kBypassed, position), webhook.name);
    return std::nullopt;
  }
  metrics_.CountFailOpen(webhook.name);
  const std::string_view prefix = type_ == Type::kMutating ? kMutatingFailedOpen : kValidatingFailedOpen;
  ctx.AddAuditAnnotation(fmt::format("{}{}", prefix, position), webhook.name);
  return std::nullopt;
}

void Caller::RecordSuccess(const Webhook& webhook, const Attributes& attributes, Duration elapsed) const {
  metrics_.ObserveCall(webhook.name, attributes.operation, false, 200, elapsed);
}

void AddRemarks(const meta::RequestContext& ctx, const Webhook& webhook, const ReviewResponse& response) {
  std::size_t count = 0, bytes = 0;
  for (const auto& [key, value] : response.audit_annotations) {
    bytes += key.size() + value.size();
    if (++count > kMaxAnnotations || bytes > kMaxAnnotationBytes) {
      log::Warning("Audit annotations of webhook {} are dropped: there are too many", webhook.name);
      break;
    }
    const std::string qualified = fmt::format("{}/{}", webhook.name, key);
    const bool valid = key.find('/') == std::string::npos && meta::CheckQualifiedName(qualified).empty();
    if (valid) {
      ctx.AddAuditAnnotation(qualified, value);
    } else {
      log::Warning("Failed to set admission audit annotation {} for webhook {}: the key is invalid", qualified,
                   webhook.name);
    }
  }
  for (const std::string& warning : response.warnings) ctx.Warn(warning);
}

}  // namespace apimesh::admission::webhooks
