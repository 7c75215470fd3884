#pragma once

#include "lib/base/clock.h"
#include "lib/meta/api_error.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"
#include "lib/meta/request_context.h"
#include "lib/registry/resource.h"

/// What happens to any object right before it is written: metadata rules, the strategy's preparation, validation.
/// Plain functions: they may run many times for one request.
namespace apimesh::registry {

/// What the server makes up. A seam: tests and simulations give a fixed clock and fixed bits.
struct Sources {
  const Clock* clock = &Clock::System();
  meta::RandomBits random = meta::SecureRandomBits;
};

/// Before a decoded object goes to admission: what only the server sets is cleared.
void ClearSystemMeta(meta::Object& object);

/// Fills uid, creationTimestamp and a generated name; prepares and validates. The object has its namespace already.
meta::Result<> BeforeCreate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object, const Sources& sources);

/// `strategy` is the one of the subresource, where there is one; `subresource` then says so.
meta::Result<> BeforeUpdate(const Resource& resource, const Strategy& strategy, const meta::RequestContext& ctx,
                            meta::Object& object, const meta::Object& old, bool subresource);

/// True: the object was waiting for its finalizers, and this update removed the last: delete it instead of writing it.
bool DeletesDuringUpdate(const Strategy& strategy, const meta::Object& object, const meta::Object& old);

/// A client's wishes for a deletion.
struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<std::string> uid;               // preconditions
  std::optional<std::string> resource_version;
  std::optional<bool> orphan_dependents;
  std::optional<std::string> propagation_policy;
  bool dry_run = false;
  bool ignore_read_error = false;  // ignoreStoreReadErrorWithClusterBreakingPotential: it can't be read, delete it unseen
};

enum class Deletion {
  kNow,        // nothing holds it: delete the key
  kMark,       // write the changed object: deletionTimestamp is set, finalizers or a grace period keep it for a while
  kMarkThenDelete,  // graceful with 0 seconds left: write, then delete
  kPending,    // it is being deleted already and nothing changes
};
/// Decides, and changes `object` where it is to be marked. Conflict if a precondition does not hold.
meta::Result<Deletion> BeforeDelete(const Resource& resource, const Strategy& strategy, meta::Object& object,
                                    const DeleteOptions& options, WallTime now);

}  // namespace apimesh::registry
