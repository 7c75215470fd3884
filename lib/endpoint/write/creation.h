#pragma once

#include "lib/endpoint/write/write_steps.h"

/// The steps of every creation, whether by POST, by PUT or by apply. Both functions stop with an error if the deadline
/// passes or the client disconnects.
namespace apimesh::endpoint {

/// Runs the steps that are done once per request: authorization, unless the request itself was authorized as a
/// creation; managedFields; mutating admission.
Task<meta::Result<>> AdmitCreation(Write& write);

/// Runs the steps that are done once per generated name. `write.held` keeps what hooks allocate, also after an error,
/// so the caller must use HeldResources::During().
Task<meta::Result<>> PrepareCreation(Write& write);

}  // namespace apimesh::endpoint
