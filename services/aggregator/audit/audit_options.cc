#include "services/aggregator/audit/audit_options.h"

namespace apimesh::aggregator {

void AuditOptions::Bind(flags::Binder& flags) {
  flags.Bind("audit-policy-file", policy_file);
  flags.Bind("audit-log-path", log.path);
  flags.Bind("audit-log-maxsize", log.max_size_megabytes);
  flags.Bind("audit-log-maxbackup", log.max_backups);
  flags.Bind("audit-log-maxage", log.max_age_days);
  flags.Bind("audit-log-compress", log.compress);
  flags.Bind("audit-log-format", log.format);
  flags.Bind("audit-log-version", log.version);
  flags.Bind("audit-log-mode", log.batch.mode);
  flags.Bind("audit-log-batch-buffer-size", log.batch.buffer_size);
  flags.Bind("audit-log-batch-max-size", log.batch.max_size);
  flags.Bind("audit-log-batch-max-wait", log.batch.max_wait);
  flags.Bind("audit-log-batch-throttle-enable", log.batch.throttle);
  flags.Bind("audit-log-batch-throttle-qps", log.batch.throttle_qps);
  flags.Bind("audit-log-batch-throttle-burst", log.batch.throttle_burst);
  flags.Bind("audit-log-truncate-enabled", log.truncate.enabled);
  flags.Bind("audit-log-truncate-max-batch-size", log.truncate.max_batch_bytes);
  flags.Bind("audit-log-truncate-max-event-size", log.truncate.max_event_bytes);
  flags.Bind("audit-webhook-config-file", webhook.config_file);
  flags.Bind("audit-webhook-initial-backoff", webhook.initial_backoff);
  flags.Bind("audit-webhook-version", webhook.version);
  flags.Bind("audit-webhook-mode", webhook.batch.mode);
  flags.Bind("audit-webhook-batch-buffer-size", webhook.batch.buffer_size);
  flags.Bind("audit-webhook-batch-max-size", webhook.batch.max_size);
  flags.Bind("audit-webhook-batch-max-wait", webhook.batch.max_wait);
  flags.Bind("audit-webhook-batch-throttle-enable", webhook.batch.throttle);
  flags.Bind("audit-webhook-batch-throttle-qps", webhook.batch.throttle_qps);
  flags.Bind("audit-webhook-batch-throttle-burst", webhook.batch.throttle_burst);
  flags.Bind("audit-webhook-truncate-enabled", webhook.truncate.enabled);
  flags.Bind("audit-webhook-truncate-max-batch-size", webhook.truncate.max_batch_bytes);
  flags.Bind("audit-webhook-truncate-max-event-size", webhook.truncate.max_event_bytes);
}

}  // namespace apimesh::aggregator
