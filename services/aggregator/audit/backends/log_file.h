#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.h"
#include "services/aggregator/audit/audit_options.h"

namespace apimesh::aggregator {

/// A log file that is rotated by size. Rotated files have the time of the rotation in their name
/// ("audit-2026-11-16T03-06-27.000.log"), as in kube-apiserver; they are deleted by number and age, and optionally
/// compressed in the background. Thread-safe.
class LogFile {
 public:
  /// Opens the file, or creates it readable only by its owner. Throws std::runtime_error.
  LogFile(const AuditLogOptions& options, const Clock& clock);
  /// Waits until rotated files are compressed.
  ~LogFile();

  /// Appends a line. Returns the error, or "". A line that was not written completely is removed again.
  std::string Write(const std::vector<std::string_view>& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::aggregator
