#pragma once

#include "lib/etcd/client.h"
#include "lib/storage/store.h"

namespace apimesh::storage {

/// What a failure of etcd is to a client of the API. Lists and watches of old revisions have texts of their own.
meta::ApiError FromEtcd(const etcd::Error& error);

/// Whether it says that a resourceVersion is of the future.
bool IsTooLarge(const meta::ApiError& error);
meta::ApiError ListExpired();
/// 410 of a page, with the token that goes on at the newest revision.
meta::ApiError ContinueExpired(std::string token);
/// 410 of a watch after `asked`, which etcd has forgotten; one can begin after `oldest`.
meta::ApiError WatchTooOld(Revision asked, Revision oldest);
/// 410 of a watch that a restored etcd has left behind.
meta::ApiError WatchExpired();
/// 429: the cache is being filled.
meta::ApiError NotReady();
/// 504: the cache did not catch up in time.
meta::ApiError CacheBehind();
/// 504: the write may or may not have happened.
meta::ApiError OutcomeUnknown();
/// "Precondition failed: …" as the reference wraps it in a Conflict.
meta::ApiError PreconditionFailed(const ResourceConfig& config, std::string_view name, std::string_view etcd_key,
                                  std::string_view why);

/// 422: what only deletes unreadable objects was asked for a readable one.
meta::ApiError ReadableAfterAll(const meta::GroupResource& resource, std::string_view name);

}  // namespace apimesh::storage
