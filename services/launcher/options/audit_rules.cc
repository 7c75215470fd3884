// Rules for the audit log and the audit webhook.
#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

std::string BatchError(const CommandLine& flags, const std::string& backend) {
  const auto flag = [&](const char* name) { return fmt::format("audit-{}-{}", backend, name); };
  const std::string mode = flags.Value(flag("mode"));
  if (mode != "batch" && mode != "blocking" && mode != "blocking-strict") {
    return fmt::format("invalid audit {} mode {}, allowed modes are \"batch,blocking,blocking-strict\"", backend, mode);
  }
  if (mode != "batch") return "";
  const auto positive = [&](const char* name, const char* shown) {
    const double value = std::atof(flags.Value(flag(name)).c_str());
    return value > 0 ? ""
                     : fmt::format("invalid audit batch {} {} {}, must be a positive number", backend, shown, value);
  };
  std::string error = positive("batch-buffer-size", "buffer size");
  if (error.empty()) error = positive("batch-max-size", "max batch size");
  if (!flags.IsTrue(flag("batch-throttle-enable"))) return error;
  if (error.empty()) error = positive("batch-throttle-qps", "throttle QPS");
  if (error.empty()) error = positive("batch-throttle-burst", "throttle burst");
  return error;
}

std::string TruncateError(const CommandLine& flags, const std::string& backend) {
  const long long event = std::atoll(flags.Value(fmt::format("audit-{}-truncate-max-event-size", backend)).c_str());
  const long long batch = std::atoll(flags.Value(fmt::format("audit-{}-truncate-max-batch-size", backend)).c_str());
  if (event <= 0)
    return fmt::format("invalid audit truncate {} max event size {}, must be a positive number", backend, event);
  if (batch >= event) return "";
  return fmt::format("invalid audit truncate {} max batch size {}, must be greater than max event size ({})", backend,
                     batch, event);
}

std::string VersionError(const CommandLine& flags, const std::string& backend) {
  const std::string version = flags.Value(fmt::format("audit-{}-version", backend));
  if (version == "audit.k8s.io/v1") return "";
  if (std::count(version.begin(), version.end(), '/') > 1) {
    return fmt::format("unexpected GroupVersion string: {}", version);
  }
  return "invalid group version, allowed versions are [\"audit.k8s.io/v1\"]";
}

void CheckBackend(const CommandLine& flags, const std::string& backend, Findings& findings) {
  for (std::string error : {BatchError(flags, backend), TruncateError(flags, backend), VersionError(flags, backend)}) {
    if (!error.empty()) findings.errors.push_back(std::move(error));
  }
}

}  // namespace

void ValidateAudit(const CommandLine& flags, Findings& findings) {
  if (!flags.Value("audit-log-path").empty()) {
    CheckBackend(flags, "log", findings);
    if (const std::string format = flags.Value("audit-log-format"); format != "json" && format != "legacy") {
      findings.errors.push_back(
          fmt::format("invalid audit log format {}, allowed formats are \"legacy,json\"", format));
    }
    for (const std::string_view name : {"audit-log-maxage", "audit-log-maxbackup", "audit-log-maxsize"}) {
      const int value = IntOf(flags, name);
      if (value < 0) findings.errors.push_back(fmt::format("--{} {} can't be a negative number", name, value));
    }
  }
  if (!flags.Value("audit-webhook-config-file").empty()) CheckBackend(flags, "webhook", findings);
}

}  // namespace apimesh::launcher
