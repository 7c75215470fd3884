#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

/// The rules of Jobs.
namespace apimesh::core_api {

// The labels by which a Job finds its pods. The old names are kept for old clients.
inline constexpr const char* kJobName = "batch.kubernetes.io/job-name";
inline constexpr const char* kOldJobName = "job-name";
inline constexpr const char* kControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr const char* kOldControllerUid = "controller-uid";

meta::FieldErrors ValidateJob(const meta::Object& job);
meta::FieldErrors ValidateJobUpdate(const meta::Object& job, const meta::Object& old);
/// Validates a write of /status. A rule about a part of the status applies only if the write changes that part, so that
/// a status that became inconsistent can still be updated.
meta::FieldErrors ValidateJobStatusUpdate(const meta::Object& job, const meta::Object& old);

/// Returns whether a Job has this condition with the status "True".
bool HasJobCondition(const meta::Object& job, std::string_view type, std::string_view status = "True");

}  // namespace apimesh::core_api
