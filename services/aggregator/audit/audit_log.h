#pragma once

#include <memory>
#include <string>

#include "services/aggregator/audit/audit_policy.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

struct AuditLogOptions {
  std::string path;          // "-": standard output
  int max_size_megabytes = 100;
  int max_backups = 100;     // rotated files that are kept; 0: all
  int max_age_days = 366;    // 0: for ever
};

/// Writes audit events, one JSON object a line, and rotates the file. Thread-safe.
class AuditLog {
 public:
  AuditLog(AuditPolicy policy, AuditLogOptions options);
  ~AuditLog();

  const AuditPolicy& Policy() const;
  void Write(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One event as a line of JSON. `request_body` is only looked at for the levels that have it.
std::string AuditEvent(const Exchange& exchange, const meta::UserInfo& user, AuditLevel level, AuditStage stage,
                       const std::string& request_body, WallTime now);

}  // namespace apimesh::aggregator
