#pragma once

#include <string>

#include "lib/admission/plugin.h"
#include "lib/base/clock.h"
#include "lib/service/metrics.h"

namespace apimesh::admission::webhooks {

/// The metrics of webhooks with the names and labels of kube-apiserver: apiserver_admission_webhook_*. Thread-safe.
class WebhookMetrics {
 public:
  /// Why a request was rejected.
  enum class Rejection { kCallFailed, kInternalError, kByWebhook };

  /// `type` is "admit" or "validating". If `metrics` is nullptr, nothing is recorded.
  WebhookMetrics(service::Metrics* metrics, std::string type) : metrics_(metrics), type_(std::move(type)) {}

  /// Records a call of a webhook. `code` is the HTTP status that stands for its outcome.
  void ObserveCall(const std::string& webhook, Operation operation, bool rejected, int code, Duration elapsed) const;
  void CountRejection(const std::string& webhook, Operation operation, Rejection why, int code) const;
  /// Counts a failed call that was ignored.
  void CountFailOpen(const std::string& webhook) const;
  /// Counts a failed call that was ignored because an administrator has suspended the failure policy.
  void CountBypass(const std::string& webhook) const;
  /// Counts a call that was not made because earlier ones have timed out.
  void CountRefusedCall(const std::string& webhook) const;

 private:
  service::Metrics* const metrics_;
  const std::string type_;
};

}  // namespace apimesh::admission::webhooks
