#include "lib/admission/webhooks/webhook_metrics.h"

namespace apimesh::admission::webhooks {
namespace {

/// Larger codes are not distinguished, so that a webhook cannot create any number of time series.
std::string CodeLabel(int code) { return std::to_string(std::min(code, 600)); }

std::string_view ToString(WebhookMetrics::Rejection why) {
  switch (why) {
    case WebhookMetrics::Rejection::kCallFailed: return "calling_webhook_error";
    case WebhookMetrics::Rejection::kInternalError: return "apiserver_internal_error";
    case WebhookMetrics::Rejection::kByWebhook: return "no_error";
  }
  return "";
}

}  // namespace

void WebhookMetrics::ObserveCall(const std::string& webhook, Operation operation, bool rejected, int code,
                                 Duration elapsed) const {
  if (!metrics_) return;
  service::Labels labels = {{"name", webhook},
                            {"type", type_},
                            {"operation", std::string(admission::ToString(operation))},
                            {"rejected", rejected ? "true" : "false"}};
  metrics_
      ->GetHistogram("apiserver_admission_webhook_admission_duration_seconds",
                     "Duration of the calls of admission webhooks in seconds, by webhook, operation and type.",
                     {0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25}, labels)
      .Observe(std::chrono::duration<double>(elapsed).count());
  labels["code"] = CodeLabel(code);
  metrics_
      ->GetCounter("apiserver_admission_webhook_request_total",
                   "Number of calls of admission webhooks, by webhook, operation, type and HTTP status.", labels)
      .Add();
}

void WebhookMetrics::CountRejection(const std::string& webhook, Operation operation, Rejection why, int code) const {
  if (!metrics_) return;
  metrics_
      ->GetCounter("apiserver_admission_webhook_rejection_count",
                   "Number of requests that were rejected because of an admission webhook, by the cause of the "
                   "rejection.",
                   {{"name", webhook},
                    {"type", type_},
                    {"operation", std::string(admission::ToString(operation))},
                    {"error_type", std::string(ToString(why))},
                    {"rejection_code", CodeLabel(code)}})
      .Add();
}

void WebhookMetrics::CountFailOpen(const std::string& webhook) const {
  if (!metrics_) return;
  metrics_
      ->GetCounter("apiserver_admission_webhook_fail_open_count",
                   "Number of failed calls of admission webhooks that were ignored.",
                   {{"name", webhook}, {"type", type_}})
      .Add();
}

void WebhookMetrics::CountBypass(const std::string& webhook) const {
  if (!metrics_) return;
  metrics_
      ->GetCounter("apimesh_admission_webhook_bypass_total",
                   "Number of failed calls of admission webhooks that were ignored because the failure policy of the "
                   "configuration is suspended.",
                   {{"name", webhook}, {"type", type_}})
      .Add();
}

void WebhookMetrics::CountRefusedCall(const std::string& webhook) const {
  if (!metrics_) return;
  metrics_
      ->GetCounter("apimesh_admission_webhook_refused_calls_total",
                   "Number of calls of admission webhooks that failed at once because earlier ones have timed out.",
                   {{"name", webhook}, {"type", type_}})
      .Add();
}

}  // namespace apimesh::admission::webhooks
