#pragma once

#include <functional>

#include "lib/endpoint/input/options.h"
#include "lib/endpoint/request.h"
#include "lib/mesh/delegate/delegate.h"

/// The steps that PUT and all types of PATCH have in common.
namespace apimesh::endpoint {

/// Computes the new object from the stored object (nullptr if it does not exist). It must be pure, because it is called
/// again after a write conflict.
using DesiredFn = std::function<meta::Result<meta::Object>(const meta::Object* current)>;

struct UpdateInput {
  WriteOptions options;
  DesiredFn desired;
  storage::Preconditions preconditions;
  bool create_allowed = false;  // in addition to kinds that always allow it
  bool tracks_fields = true;    // false: `desired` updates managedFields itself
};
/// Runs an update from `desired` to the response: admission, strategy, optimistic locking, dry run, the creation of an
/// object that does not exist, and the deletion of an object that has lost its last finalizer.
Task<meta::Result<mesh::Response>> RunUpdate(RequestPtr request, UpdateInput input);

}  // namespace apimesh::endpoint
