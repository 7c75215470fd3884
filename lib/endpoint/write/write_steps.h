#pragma once

#include <span>

#include "lib/endpoint/input/options.h"
#include "lib/endpoint/request.h"
#include "lib/endpoint/write/held_resources.h"

/// The steps of creations and updates.
namespace apimesh::endpoint {

/// The state of one write until it is stored.
struct Write {
  RequestPtr request;
  const WriteOptions* options = nullptr;
  HeldResources* held = nullptr;
  const meta::Object* old = nullptr;  // the stored object; nullptr if the write creates one
  meta::Object object;                // the object to be stored
  bool tracks_fields = true;          // false: managedFields are already up to date, as after an apply

  admission::Operation Operation() const { return old ? admission::Operation::kUpdate : admission::Operation::kCreate; }
};

/// Exactly one of the functions is set: `run` only computes, `wait` does I/O.
struct WriteStep {
  meta::Result<> (*run)(Write& write) = nullptr;
  Task<meta::Result<>> (*wait)(Write& write) = nullptr;
};

/// Runs the steps in order until one fails. Before each step and after the last one, it checks that the client is still
/// connected and the deadline has not passed, because the steps of a large write take long.
Task<meta::Result<>> RunSteps(std::span<const WriteStep> steps, Write& write);

/// Records in managedFields which manager has written which fields.
meta::Result<> TrackManagedFields(Write& write);
Task<meta::Result<>> MutatingAdmission(Write& write);
/// Runs registry::Resource::checks. Writes of subresources are not checked.
Task<meta::Result<>> CheckContent(Write& write);
Task<meta::Result<>> TakeResources(Write& write);
Task<meta::Result<>> ValidatingAdmission(Write& write);
meta::Result<> Normalise(Write& write);

}  // namespace apimesh::endpoint
