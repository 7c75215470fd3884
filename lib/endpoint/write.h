#pragma once

#include <functional>
#include <memory>

#include "lib/admission/plugin.h"
#include "lib/endpoint/options.h"
#include "lib/endpoint/request.h"
#include "lib/rpc/delegate.h"

/// What all writes share.
namespace apimesh::endpoint {

/// The attributes of this request for admission. `object`, `old` and `options` must outlive the result.
admission::Attributes AttributesOf(const ResourceRequest& request, admission::Operation operation, meta::Object* object,
                                   const meta::Object* old, const meta::json::object* options, bool dry_run);

/// Owner references that are there twice are removed, with a warning.
void DropDuplicateOwners(const ResourceRequest& request, meta::Object& object, bool after_admission);

/// Brings managedFields up to date; a failure leaves the object without new owners, as the reference does.
/// The reference notes no time for those who write through the scale subresource, and lists them first.
void ForgetScaleTimes(meta::Object& object);
void TrackFields(const ResourceRequest& request, const WriteOptions& options, const meta::Object* live, meta::Object& object);

/// 400 if the object is not the one the URL names.
meta::Result<> CheckName(const ResourceRequest& request, const meta::Object& object);

/// One update: what the object becomes, given what it is (nullptr: it does not exist). Pure; may run many times.
using Desired = std::function<meta::Result<meta::Object>(const meta::Object* current)>;

struct UpdateInput {
  WriteOptions options;
  Desired desired;
  storage::Preconditions preconditions;
  bool create_allowed = false;
};
/// Everything from `desired` to the store and back to the answer: admission, strategy, optimistic locking, deletion of an
/// object that lost its last finalizer, dry run.
Task<meta::Result<rpc::Response>> RunUpdate(RequestPtr request, UpdateInput input);

}  // namespace apimesh::endpoint
