#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/launcher/options/check_options.h"

// The rules that check_options.cc applies in order. Each reads the flags and adds to the findings; none changes
// anything.
namespace apimesh::launcher {

// When options are completed.
void CompleteVersions(const CommandLine& flags, Findings& findings);
void CompleteFeatureGates(const CommandLine& flags, Findings& findings);
void CompleteLogging(const CommandLine& flags, Findings& findings);
void CompleteServiceRanges(const CommandLine& flags, Findings& findings);
void CompleteServingCertificate(const CommandLine& flags, Findings& findings);
void CompleteServiceAccounts(const CommandLine& flags, Findings& findings);
void CompleteWatchCacheSizes(const CommandLine& flags, Findings& findings);

// When options are validated.
void ValidateGeneric(const CommandLine& flags, Findings& findings);
void ValidateVersions(const CommandLine& flags, Findings& findings);  // a part of ValidateGeneric
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

// When options are applied.
void ApplyServing(const CommandLine& flags, Findings& findings);
void ApplyConcurrency(const CommandLine& flags, Findings& findings);
void ApplyRuntimeConfig(const CommandLine& flags, Findings& findings);
void ApplyProxyClient(const CommandLine& flags, Findings& findings);
void ApplyHttp2(const CommandLine& flags, Findings& findings);
void ApplyEndpointReconciler(const CommandLine& flags, Findings& findings);
void ApplyEtcd(const CommandLine& flags, Findings& findings);
void ApplyWebhooks(const CommandLine& flags, Findings& findings);
void ApplyFiles(const CommandLine& flags, Findings& findings);

// What several rules need.
inline int IntOf(const CommandLine& flags, std::string_view name) { return std::atoi(flags.Value(name).c_str()); }
std::int64_t DurationOf(const CommandLine& flags, std::string_view name);  // in nanoseconds
/// "open PATH: no such file or directory" as Go says it; empty if the file can be read.
std::string OpenError(const std::string& path);
/// What is wrong with a URL, as Go says it; empty if it can be parsed.
std::string UrlError(const std::string& url);

}  // namespace apimesh::launcher
