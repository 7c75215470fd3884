#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "lib/flags/binder.h"

namespace apimesh::aggregator {

/// When a backend gets events, and how many at once.
struct AuditBatchOptions {
  std::string mode;  // batch, blocking or blocking-strict
  int buffer_size, max_size;
  std::chrono::milliseconds max_wait;
  bool throttle;
  std::string throttle_qps;  // a number
  int throttle_burst;
};

/// The sizes from which events and batches are cut.
struct AuditTruncateOptions {
  bool enabled;
  std::int64_t max_batch_bytes, max_event_bytes;
};

struct AuditLogOptions {
  std::string path;  // "-": standard output; "": no log
  int max_size_megabytes;
  int max_backups;   // rotated files that are kept; 0: all
  int max_age_days;  // 0: forever
  bool compress;
  std::string format;  // json or legacy
  std::string version;
  AuditBatchOptions batch;
  AuditTruncateOptions truncate;
};

struct AuditWebhookOptions {
  std::string config_file;  // a kubeconfig; "": no webhook
  std::chrono::milliseconds initial_backoff;
  std::string version;
  AuditBatchOptions batch;
  AuditTruncateOptions truncate;
};

struct AuditOptions {
  std::string policy_file;
  AuditLogOptions log;
  AuditWebhookOptions webhook;

  AuditOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
};

}  // namespace apimesh::aggregator
