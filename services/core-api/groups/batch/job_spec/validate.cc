#include <fmt/format.h>

#include "services/core-api/groups/batch/job_spec/job_spec.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"
#include "services/core-api/validation/domain_paths.h"

namespace apimesh::core_api {
namespace {

constexpr std::int64_t kMaxParallelism = 100'000;    // of an Indexed Job
constexpr std::int64_t kMaxFailedIndexes = 100'000;  // of an Indexed Job
constexpr std::int64_t kManyCompletions = 100'000;   // above this, the next two limits apply
constexpr std::int64_t kMaxParallelismForMany = 10'000;
constexpr std::int64_t kMaxFailedIndexesForMany = 10'000;
constexpr std::size_t kMaxManagedByLength = 63;

/// Adds "unsupported" if the field is present, even if it is empty, and not one of `values`.
void OneOfIfPresent(const Check& spec, std::string_view field, const std::vector<std::string>& values) {
  spec.OneOf(field, values);
  if (spec.Has(field) && spec.Text(field).empty())
    spec.Add(meta::NotSupported(spec.Path().Child(field).ToString(), "\"\"", values));
}

void ValidateManyCompletions(const Check& spec) {
  const std::string condition =
      fmt::format("when completions are above {} and used with backoff limit per index", kManyCompletions);
  if (!spec.Has("maxFailedIndexes")) {
    spec.Add(meta::Required(spec.Path().Child("maxFailedIndexes").ToString(),
                            fmt::format("must be specified when completions is above {}", kManyCompletions)));
  }
  if (spec.Number("parallelism").value_or(0) > kMaxParallelismForMany) {
    spec.Invalid("parallelism", fmt::format("must be less than or equal to {} {}", kMaxParallelismForMany, condition));
  }
  if (spec.Number("maxFailedIndexes").value_or(0) > kMaxFailedIndexesForMany) {
    spec.Invalid("maxFailedIndexes",
                 fmt::format("must be less than or equal to {} {}", kMaxFailedIndexesForMany, condition));
  }
}

void ValidateIndexed(const Check& spec) {
  const std::optional<std::int64_t> completions = spec.Number("completions");
  const std::int64_t max_failed = spec.Number("maxFailedIndexes").value_or(0);
  if (!completions)
    spec.Add(meta::Required(spec.Path().Child("completions").ToString(), "when completion mode is Indexed"));
  if (spec.Number("parallelism").value_or(0) > kMaxParallelism) {
    spec.Invalid("parallelism",
                 fmt::format("must be less than or equal to {} when completion mode is Indexed", kMaxParallelism));
  }
  if (completions && spec.Has("maxFailedIndexes") && max_failed > *completions)
    spec.Invalid("maxFailedIndexes", "must be less than or equal to completions");
  if (max_failed > kMaxFailedIndexes)
    spec.Invalid("maxFailedIndexes", fmt::format("must be less than or equal to {}", kMaxFailedIndexes));
  if (completions && *completions > kManyCompletions && spec.Has("backoffLimitPerIndex")) ValidateManyCompletions(spec);
}

void ValidateCompletionMode(const Check& spec) {
  OneOfIfPresent(spec, "completionMode", {"NonIndexed", "Indexed"});
  const std::string_view mode = spec.Text("completionMode");
  if (mode == "Indexed") ValidateIndexed(spec);
  if (spec.Has("completionMode") && mode != "NonIndexed") return;
  for (const char* field : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec.Has(field)) spec.Invalid(field, "requires indexed completion mode");
  }
}

void ValidatePodReplacementPolicy(const Check& spec) {
  if (spec.Has("podFailurePolicy")) {
    OneOfIfPresent(spec, "podReplacementPolicy", {"Failed"});
  } else {
    OneOfIfPresent(spec, "podReplacementPolicy", {"Failed", "TerminatingOrFailed"});
  }
}

void ValidateRestartPolicy(const Check& spec) {
  const std::string path = spec.Path().Child("template").Child("spec").Child("restartPolicy").ToString();
  const std::string_view policy = meta::FindString(spec.Object(), "template", "spec", "restartPolicy");
  if (policy.empty() || policy == "Always") {
    spec.Add(meta::Required(path, R"(valid values: "OnFailure", "Never")"));
  } else if (policy != "OnFailure" && policy != "Never") {
    spec.Add(meta::NotSupported(path, meta::Quoted(policy), {"OnFailure", "Never"}));
  } else if (spec.Has("podFailurePolicy") && policy != "Never") {
    spec.Add(
        meta::Invalid(path, meta::Quoted(policy), R"(only "Never" is supported when podFailurePolicy is specified)"));
  }
}

}  // namespace

void ValidateJobSpec(const Check& spec) {
  for (const char* field : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                            "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    spec.NonNegative(field);
  }
  if (spec.Has("maxFailedIndexes") && !spec.Has("backoffLimitPerIndex")) {
    spec.Add(
        meta::Required(spec.Path().Child("backoffLimitPerIndex").ToString(), "when maxFailedIndexes is specified"));
  }
  if (spec.Has("managedBy")) {
    ValidateDomainPrefixedPath(spec, "managedBy");
    if (spec.Text("managedBy").size() > kMaxManagedByLength)
      spec.Add(meta::TooLong(spec.Path().Child("managedBy").ToString(), kMaxManagedByLength));
  }
  ValidateCompletionMode(spec);
  ValidatePodFailurePolicy(spec);
  ValidateSuccessPolicy(spec);
  ValidatePodReplacementPolicy(spec);
  ValidatePodTemplate(spec);
  ValidateRestartPolicy(spec);
}

std::vector<std::string> JobSpecWarnings(const Check& spec) {
  std::vector<std::string> warnings;
  if (spec.Text("completionMode") == "Indexed" && spec.Number("completions").value_or(0) > kManyCompletions &&
      spec.Number("parallelism").value_or(0) > kMaxParallelismForMany) {
    warnings.push_back(fmt::format(
        "{}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
        "Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
        spec.Path().ToString()));
  }
  for (std::string& warning : TemplateWarningsOf(spec.Object(), spec.Path())) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace apimesh::core_api
