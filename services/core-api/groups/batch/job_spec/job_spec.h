#pragma once

#include "services/core-api/validation/check.h"

/// The spec of a Job, which CronJobs contain as a template.
namespace apimesh::core_api {

/// Validates a spec of a Job, without its selector. `spec` is the spec of the Job or of the template of a CronJob.
void ValidateJobSpec(const Check& spec);

// The parts of ValidateJobSpec() that have their own files.
void ValidatePodFailurePolicy(const Check& spec);
void ValidateSuccessPolicy(const Check& spec);

/// Returns the warnings about a spec of a Job at this path.
std::vector<std::string> JobSpecWarnings(const Check& spec);

}  // namespace apimesh::core_api
