#pragma once

#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"
#include "lib/meta/request/request_context.h"
#include "lib/registry/resource.h"

/// The generic steps before an object is written: metadata rules, the preparation by the strategy, and validation.
/// These functions do no I/O and may run several times for one request.
namespace apimesh::registry {

/// The sources of times and random values. Tests and simulations use a fixed clock and fixed bits.
struct Sources {
  const Clock* clock = nullptr;  // required
  meta::RandomBits random = meta::SecureRandomBits;
};

/// Removes the metadata that only the server sets from a decoded object, before admission sees it.
void ClearSystemMeta(meta::Object& object);

/// Sets uid and creationTimestamp, and generates the name if metadata.name is empty and generateName is set.
void FillSystemMeta(meta::Object& object, const Sources& sources);

/// Prepares and validates an object that has its namespace and went through FillSystemMeta().
meta::Result<> BeforeCreate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object);

/// Prepares and validates an object that replaces `old`. `strategy` is that of the subresource if `subresource` is
/// true.
meta::Result<> BeforeUpdate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object, const meta::Object& old, bool subresource);

/// Returns whether the object is being deleted and this update has removed its last finalizer. The caller must then
/// delete the object instead of writing it. An object with a remaining grace period is not deleted.
bool DeletesDuringUpdate(const Strategy& strategy, const meta::Object& object, const meta::Object& old);

/// The deletion options of a client.
struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<std::string> uid;  // preconditions
  std::optional<std::string> resource_version;
  std::optional<bool> orphan_dependents;
  std::optional<std::string> propagation_policy;
  bool dry_run = false;
  bool ignore_read_error =
      false;  // ignoreStoreReadErrorWithClusterBreakingPotential: delete the object even if it cannot be read
};

enum class Deletion {
  kNow,   // nothing prevents the deletion: delete the key
  kMark,  // write the changed object: deletionTimestamp is set, and finalizers or a grace period keep the object
  kMarkThenDelete,  // graceful with 0 seconds left: write, then delete
  kPending,         // the object is already being deleted and nothing changes
};
/// Decides how an object is deleted, and changes `object` if it has to be marked. Returns Conflict if a precondition
/// does not hold.
meta::Result<Deletion> BeforeDelete(const Resource& resource, const Strategy& strategy, meta::Object& object,
                                    const DeleteOptions& options, WallTime now);

}  // namespace apimesh::registry
