#include "services/launcher/options/check_options.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/launcher/options/rules.h"

namespace apimesh::launcher {
namespace {

using Rule = void (*)(const CommandLine& flags, Findings& findings);

// The order is that of kube-apiserver, because it determines which error is reported and in which position.
constexpr Rule kCompletion[] = {
    &CompleteVersions,  // versions, gates and logging come first, because the other rules use them
    &CompleteFeatureGates,       &CompleteLogging,         &CompleteServiceRanges,
    &CompleteServingCertificate, &CompleteServiceAccounts, &CompleteWatchCacheSizes,
};
constexpr Rule kValidation[] = {
    &ValidateGeneric,
    &ValidateEtcd,
    &ValidatePriorityAndFairness,
    &ValidateServing,
    &ValidateAuthentication,
    &ValidateAuthorization,
    &ValidateAudit,
    &ValidateAdmission,
    &ValidateRuntimeConfig,
    &ValidateTokenRequest,
    &ValidateMetrics,
    &ValidatePeerProxy,
    &ValidateTokenSigning,
    &ValidateCoordinatedLeadership,
    &ValidateServiceRanges,
    &ValidateNodePort,
    &ValidateAddressFamilies,
    &ValidateApiserverCount,
};
constexpr Rule kApplication[] = {
    &ApplyServing,  &ApplyConcurrency,        &ApplyRuntimeConfig, &ApplyFiles, &ApplyEtcd,
    &ApplyWebhooks, &ApplyEndpointReconciler, &ApplyProxyClient,   &ApplyHttp2,
};

}  // namespace

Findings CheckOptions(const CommandLine& flags) {
  Findings findings;
  for (const Rule rule : kCompletion) {
    rule(flags, findings);
    if (!findings.errors.empty()) return findings;
  }
  for (const Rule rule : kValidation) rule(flags, findings);
  if (!findings.errors.empty()) return findings;
  for (const Rule rule : kApplication) {
    rule(flags, findings);
    if (!findings.errors.empty()) break;
  }
  return findings;
}

std::string Aggregate(const std::vector<std::string>& errors) {
  std::vector<std::string> unique;
  for (const std::string& error : errors) {
    if (std::find(unique.begin(), unique.end(), error) == unique.end()) unique.push_back(error);
  }
  return unique.size() == 1 ? unique[0] : fmt::format("[{}]", fmt::join(unique, ", "));
}

}  // namespace apimesh::launcher
