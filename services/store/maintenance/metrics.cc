#include "services/store/maintenance/metrics.h"

#include <cstdio>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

namespace apimesh::store {
namespace {

void Line(std::string& out, const char* type, const char* name, double value, const char* labels = "") {
  fmt::format_to(std::back_inserter(out), "# TYPE {0} {1}\n{0}{2} {3}\n", name, type, labels, value);
}

double ResidentBytes() {
  long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void Metrics::Synced(std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  ++syncs_;
  sync_seconds_ += seconds;
  double bound = 0.001;
  for (std::uint64_t& bucket : sync_buckets_) {
    if (seconds <= bound) ++bucket;
    bound *= 2;
  }
}

std::string Metrics::Render(const Gauges& g) const {
  std::string out;
  const auto gauge = [&](const char* name, auto value) { Line(out, "gauge", name, static_cast<double>(value)); };
  const auto counter = [&](const char* name, auto value) { Line(out, "counter", name, static_cast<double>(value)); };
  gauge("etcd_server_has_leader", 1);
  gauge("etcd_server_is_leader", 1);
  gauge("etcd_server_quota_backend_bytes", g.quota_bytes);
  gauge("etcd_mvcc_db_total_size_in_bytes", g.file_bytes);
  gauge("etcd_mvcc_db_total_size_in_use_in_bytes", g.used_bytes);
  gauge("etcd_debugging_mvcc_current_revision", g.revision);
  gauge("etcd_debugging_mvcc_compact_revision", g.compacted);
  gauge("etcd_debugging_mvcc_keys_total", g.keys);
  gauge("etcd_debugging_mvcc_watcher_total", g.watchers);
  gauge("etcd_debugging_mvcc_watch_stream_total", g.watch_streams);
  gauge("etcd_debugging_mvcc_slow_watcher_total", g.slow_watchers);
  counter("etcd_debugging_mvcc_events_total", g.events);
  counter("etcd_debugging_lease_revoked_total", leases_expired);
  counter("etcd_mvcc_range_total", ranges);
  counter("etcd_mvcc_put_total", puts);
  counter("etcd_mvcc_delete_total", deletes);
  counter("etcd_mvcc_txn_total", txns);
  gauge("etcd_server_proposals_applied_total", g.entries);
  gauge("etcd_server_proposals_committed_total", g.entries);
  gauge("apimesh_store_connections", g.connections);
  gauge("apimesh_store_nospace_alarm", g.alarm ? 1 : 0);
  gauge("process_resident_memory_bytes", ResidentBytes());
  out += "# TYPE etcd_disk_wal_fsync_duration_seconds histogram\n";
  double bound = 0.001;
  for (const std::uint64_t bucket : sync_buckets_) {
    fmt::format_to(std::back_inserter(out), "etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"{}\"}} {}\n", bound,
                   bucket);
    bound *= 2;
  }
  fmt::format_to(std::back_inserter(out),
                 "etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"+Inf\"}} {0}\n"
                 "etcd_disk_wal_fsync_duration_seconds_sum {1}\netcd_disk_wal_fsync_duration_seconds_count {0}\n",
                 syncs_, sync_seconds_);
  return out;
}

}  // namespace apimesh::store
