#pragma once

#include <string_view>

#include "lib/base/async/task.h"
#include "lib/mesh/delegate/delegate.h"

/// Diagnosis of one process. The aggregator, which has authorized the client, asks every process of the mesh with POST
/// requests to these paths. No client and no peer that only reads can send them.
namespace apimesh::service {

/// Sets the verbosity of the log; the body is a number as in `-v`. From 4 on, debug lines are logged.
inline constexpr std::string_view kVerbosityPath = "/apimesh/process/verbosity";

/// Samples what the process executes for `?seconds=N`, and answers with one line per stack: the number of samples, then
/// the names of the functions, innermost first, all separated by tabs. 409: another profile is being taken.
inline constexpr std::string_view kCpuPath = "/apimesh/process/cpu";
inline constexpr int kMaxProfileSeconds = 120;

bool IsDiagnosis(const mesh::Request& request);
/// Must be called only if IsDiagnosis().
Task<mesh::Response> AnswerDiagnosis(mesh::Request request);

}  // namespace apimesh::service
