#pragma once

#include "lib/etcd/client.h"
#include "lib/storage/store.h"

namespace apimesh::storage {

/// Translates an etcd error into an API error. Lists and watches of old revisions have their own messages (see below).
meta::ApiError FromEtcd(const etcd::Error& error);

/// Returns whether the error says that a resourceVersion is newer than etcd's revision.
bool IsTooLarge(const meta::ApiError& error);
meta::ApiError ListExpired();
/// 410 for a page of a list, with a token that continues at the newest revision.
meta::ApiError ContinueExpired(std::string token);
/// 410 for a watch that starts after the compacted revision `asked`. `oldest` is the oldest revision at which a watch
/// can start.
meta::ApiError WatchTooOld(Revision asked, Revision oldest);
/// 410 for a watch whose revision no longer exists because etcd was restored from a backup.
meta::ApiError WatchExpired();
/// 429: the cache is still being filled.
meta::ApiError NotReady();
/// 504: the cache did not catch up in time.
meta::ApiError CacheBehind();
/// 504: the write may or may not have happened. Every layer must return this error unchanged, so that callers recognise
/// it.
meta::ApiError OutcomeUnknown();
/// Returns whether this is the error of OutcomeUnknown(), or a copy of it.
bool IsOutcomeUnknown(const meta::ApiError& error);
/// 504: the deadline passed while the write had to be attempted again. It has not happened.
meta::ApiError NotWrittenInTime();
/// "Precondition failed: …", wrapped in a Conflict as kube-apiserver does.
meta::ApiError PreconditionFailed(const ResourceConfig& config, std::string_view name, std::string_view etcd_key,
                                  std::string_view why);

/// 422: a request that only deletes unreadable objects names a readable one.
meta::ApiError ObjectIsReadable(const meta::GroupResource& resource, std::string_view name);

}  // namespace apimesh::storage
