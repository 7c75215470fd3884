// Rules for timeouts, limits, headers for browsers, logging, metrics, and clusters with several API servers.
#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/feature_gates.h"
#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

using meta::Quoted;

void RefuseNegative(const CommandLine& flags, std::string_view name, bool duration, std::string_view text,
                    Findings& findings) {
  if ((duration ? DurationOf(flags, name) : IntOf(flags, name)) < 0) findings.errors.emplace_back(text);
}

void CheckTransportSecurity(const CommandLine& flags, Findings& findings) {
  for (const std::string& directive : flags.Values("strict-transport-security-directives")) {
    if (directive.find_first_not_of(" \t") == directive.npos) {
      findings.errors.push_back("empty value in strict-transport-security-directives");
    } else if (directive != "includeSubDomains" && directive != "preload" &&
               (!directive.starts_with("max-age=") || directive.find('=', 8) != directive.npos)) {
      findings.errors.push_back(
          "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, "
          "preload. see "
          "https://tools.ietf.org/html/rfc6797#section-6.1 for more information");
    }
  }
}

// An expression that is not anchored to the host would also match the origins of other sites (CVE-2022-1996).
void CheckOrigins(const CommandLine& flags, Findings& findings) {
  for (const std::string& origin : flags.Values("cors-allowed-origins")) {
    const auto has = [&](std::string_view marker) { return origin.find(marker) != origin.npos; };
    if (origin.empty()) {
      findings.errors.push_back("empty value in --cors-allowed-origins");
    } else if (!(has("^") || has("//")) || !(has("$") || has(":"))) {
      findings.errors.push_back(
          "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of "
          "host in the origin "
          "header");
    }
  }
}

}  // namespace

void ValidateGeneric(const CommandLine& flags, Findings& findings) {
  RefuseNegative(flags, "livez-grace-period", true, "--livez-grace-period can not be a negative value", findings);
  RefuseNegative(flags, "max-requests-inflight", false, "--max-requests-inflight can not be negative value", findings);
  RefuseNegative(flags, "max-mutating-requests-inflight", false,
                 "--max-mutating-requests-inflight can not be "
                 "negative value",
                 findings);
  RefuseNegative(flags, "request-timeout", true, "--request-timeout can not be negative value", findings);
  if (const double chance = std::atof(flags.Value("goaway-chance").c_str()); chance < 0 || chance > 0.02) {
    findings.errors.push_back("--goaway-chance can not be less than 0 or greater than 0.02");
  }
  RefuseNegative(flags, "min-request-timeout", false, "--min-request-timeout can not be negative value", findings);
  RefuseNegative(flags, "storage-initialization-timeout", true,
                 "--storage-initialization-timeout can not be negative "
                 "value",
                 findings);
  RefuseNegative(flags, "shutdown-delay-duration", true, "--shutdown-delay-duration can not be negative value",
                 findings);
  RefuseNegative(flags, "shutdown-watch-termination-grace-period", true,
                 "shutdown-watch-termination-grace-period, if provided, can not be a negative value", findings);
  CheckTransportSecurity(flags, findings);
  CheckOrigins(flags, findings);
  ValidateVersions(flags, findings);
}

void ApplyConcurrency(const CommandLine& flags, Findings& findings) {
  const int reads = IntOf(flags, "max-requests-inflight"), writes = IntOf(flags, "max-mutating-requests-inflight");
  if (flags.IsTrue("enable-priority-and-fairness") && reads + writes <= 0) {
    findings.errors.push_back(fmt::format(
        "invalid configuration: MaxRequestsInFlight={} and MaxMutatingRequestsInFlight={}; they must add up to "
        "something positive",
        reads, writes));
  }
}

void CompleteLogging(const CommandLine& flags, Findings& findings) {
  std::vector<std::string> errors;
  if (DurationOf(flags, "log-flush-frequency") <= 0) {
    errors.push_back(fmt::format("flushFrequency: Invalid value: {}: Must be greater than zero",
                                 Quoted(flags.Value("log-flush-frequency"))));
  }
  const std::string format = flags.Value("logging-format");
  if (format != "text" && format != "json")
    errors.push_back(
        fmt::format("format: Invalid value: {}: Unsupported log "
                    "format",
                    Quoted(format)));
  if (!flags.Value("vmodule").empty() && format != "text") {
    errors.push_back("vmodule: Forbidden: Only supported for text log format");
  }
  for (const std::string_view option : {"text", "json"}) {
    const bool split = flags.IsTrue(fmt::format("log-{}-split-stream", option));
    const bool buffered = flags.Value(fmt::format("log-{}-info-buffer-size", option)) != "0";
    if (FeatureEnabled(flags, "LoggingAlphaOptions")) break;
    if (split)
      errors.push_back(
          fmt::format("options.{}.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled", option));
    if (buffered)
      errors.push_back(
          fmt::format("options.{}.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled", option));
  }
  if (!errors.empty()) findings.errors.push_back(Aggregate(errors));
}

void ValidateMetrics(const CommandLine& flags, Findings& findings) {
  if (const std::string version = flags.Value("show-hidden-metrics-for-version");
      !version.empty() && version != "1.35") {
    findings.errors.push_back(fmt::format(
        "metrics.showHiddenMetricsForVersion: Invalid value: {}: must be omitted or have the value '1.35'; only the "
        "previous minor version is "
        "allowed",
        Quoted(version)));
  }
  static const std::regex name("^[a-zA-Z_:][a-zA-Z0-9_:]*$");
  const std::vector<std::string> disabled = flags.Values("disabled-metrics");
  for (const std::string& metric : disabled) {
    if (std::regex_match(metric, name)) continue;
    std::string shown;
    for (const std::string& one : disabled) shown += (shown.empty() ? "" : ",") + Quoted(one);
    findings.errors.push_back(
        fmt::format("metrics.disabledMetrics: Invalid value: [{}]: must be fully qualified metric names matching "
                    "\"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got {}",
                    shown, Quoted(metric)));
    break;
  }
}

void ValidatePeerProxy(const CommandLine& flags, Findings& findings) {
  if (FeatureEnabled(flags, "UnknownVersionInteroperabilityProxy")) return;
  for (const std::string_view name : {"peer-ca-file", "peer-advertise-ip", "peer-advertise-port"}) {
    if (flags.Value(name).empty()) continue;
    findings.errors.push_back(
        fmt::format("--{} requires UnknownVersionInteroperabilityProxy feature to be turned on", name));
  }
}

void ValidateCoordinatedLeadership(const CommandLine& flags, Findings& findings) {
  const std::int64_t lease = DurationOf(flags, "coordinated-leadership-lease-duration"),
                     renew = DurationOf(flags, "coordinated-leadership-renew-deadline"),
                     retry = DurationOf(flags, "coordinated-leadership-retry-period");
  if (lease <= renew) {
    findings.errors.push_back(
        "--coordinated-leadership-lease-duration must be greater than "
        "--coordinated-leadership-renew-deadline");
  }
  if (renew <= retry) {
    findings.errors.push_back(
        "--coordinated-leadership-renew-deadline must be greater than "
        "--coordinated-leadership-retry-period");
  }
}

void ValidateApiserverCount(const CommandLine& flags, Findings& findings) {
  if (const int count = IntOf(flags, "apiserver-count"); count <= 0) {
    findings.errors.push_back(
        fmt::format("--apiserver-count should be a positive number, but value '{}' provided", count));
  }
}

std::int64_t DurationOf(const CommandLine& flags, std::string_view name) {
  return ParseGoDuration(flags.Value(name)).value_or(0);
}

}  // namespace apimesh::launcher
