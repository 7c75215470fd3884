#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/launcher/options/check_options.h"

// The rules that check_options.cc applies in order. Each rule reads the flags and adds to the findings; rules do not
// change the flags.
namespace apimesh::launcher {

// Rules of the step that completes options.
void CompleteVersions(const CommandLine& flags, Findings& findings);
void CompleteFeatureGates(const CommandLine& flags, Findings& findings);
void CompleteLogging(const CommandLine& flags, Findings& findings);
void CompleteServiceRanges(const CommandLine& flags, Findings& findings);
void CompleteServingCertificate(const CommandLine& flags, Findings& findings);
void CompleteServiceAccounts(const CommandLine& flags, Findings& findings);
void CompleteWatchCacheSizes(const CommandLine& flags, Findings& findings);

// Rules of the step that validates options.
void ValidateGeneric(const CommandLine& flags, Findings& findings);
void ValidateVersions(const CommandLine& flags, Findings& findings);  // called by ValidateGeneric
void ValidateEtcd(const CommandLine& flags, Findings& findings);
void ValidatePriorityAndFairness(const CommandLine& flags, Findings& findings);
void ValidateServing(const CommandLine& flags, Findings& findings);
void ValidateAuthentication(const CommandLine& flags, Findings& findings);
void ValidateAuthorization(const CommandLine& flags, Findings& findings);
void ValidateAudit(const CommandLine& flags, Findings& findings);
void ValidateAdmission(const CommandLine& flags, Findings& findings);
void ValidateRuntimeConfig(const CommandLine& flags, Findings& findings);
void ValidateTokenRequest(const CommandLine& flags, Findings& findings);
void ValidateMetrics(const CommandLine& flags, Findings& findings);
void ValidatePeerProxy(const CommandLine& flags, Findings& findings);
void ValidateTokenSigning(const CommandLine& flags, Findings& findings);
void ValidateCoordinatedLeadership(const CommandLine& flags, Findings& findings);
void ValidateServiceRanges(const CommandLine& flags, Findings& findings);
void ValidateNodePort(const CommandLine& flags, Findings& findings);
void ValidateAddressFamilies(const CommandLine& flags, Findings& findings);
void ValidateApiserverCount(const CommandLine& flags, Findings& findings);

// Rules of the step that applies options.
void ApplyServing(const CommandLine& flags, Findings& findings);
void ApplyConcurrency(const CommandLine& flags, Findings& findings);
void ApplyRuntimeConfig(const CommandLine& flags, Findings& findings);
void ApplyProxyClient(const CommandLine& flags, Findings& findings);
void ApplyHttp2(const CommandLine& flags, Findings& findings);
void ApplyEndpointReconciler(const CommandLine& flags, Findings& findings);
void ApplyEtcd(const CommandLine& flags, Findings& findings);
void ApplyWebhooks(const CommandLine& flags, Findings& findings);
void ApplyFiles(const CommandLine& flags, Findings& findings);

// Helpers of several rules.
inline int IntOf(const CommandLine& flags, std::string_view name) { return std::atoi(flags.Value(name).c_str()); }
std::int64_t DurationOf(const CommandLine& flags, std::string_view name);  // in nanoseconds
/// Returns Go's error text, such as "open PATH: no such file or directory"; empty if the file can be read.
std::string OpenError(const std::string& path);
/// Returns Go's error text for a URL; empty if it can be parsed.
std::string UrlError(const std::string& url);

}  // namespace apimesh::launcher
