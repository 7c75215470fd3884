#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "services/store/net/tls.h"

namespace apimesh::store {

enum class AutoCompaction { kOff, kPeriodic, kRevision };

/// The settings of one store, named after etcd's flags.
struct Options {
  std::string name = "default";
  std::string data_dir;  // empty: "<name>.etcd"
  std::vector<std::string> listen_client_urls{"http://localhost:2379"};
  std::vector<std::string> listen_metrics_urls;
  std::vector<std::string> advertise_client_urls;  // empty: the listen URLs
  std::vector<std::string> initial_advertise_peer_urls{"http://localhost:2380"};
  std::string initial_cluster_token = "etcd-cluster";
  TlsFiles tls;
  bool sync = true;
  std::int64_t quota_backend_bytes = 0;
  std::size_t max_request_bytes = 1536 * 1024;
  int max_txn_ops = 128;
  AutoCompaction auto_compaction = AutoCompaction::kOff;
  std::chrono::nanoseconds auto_compaction_period{0};
  std::int64_t auto_compaction_revisions = 0;
  std::chrono::nanoseconds watch_progress_notify_interval = std::chrono::minutes(10);
  std::string log_level = "info";
  std::string log_format = "text";
  bool show_help = false, show_version = false;
};

/// Parses etcd's flags ("--flag value", "--flag=value", one dash or two) and, for flags that are not given, the
/// variables ETCD_FLAG_NAME. Flags of etcd that have no meaning for a store with one member are accepted and ignored.
/// Anything else throws std::invalid_argument with a message for the user.
Options ParseOptions(const std::vector<std::string>& arguments);

/// Parses Go's durations ("5m", "1h30m"), which etcd's flags use. A plain number is hours, as in
/// auto-compaction-retention.
std::chrono::nanoseconds ParseDuration(const std::string& text);

std::string HelpText();

}  // namespace apimesh::store
