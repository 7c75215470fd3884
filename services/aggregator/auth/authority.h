#pragma once

#include "lib/base/hash/keyed_hash.h"
#include "lib/service/auth/authority.h"

namespace apimesh::aggregator {

using service::AuthenticatedUser;
using service::AuthenticationAnswer;
using service::AuthenticationQuestion;
using service::Authority;
using service::AuthorizationAnswer;
using service::AuthorizationQuestion;
using service::InvalidationFn;
using service::InvalidationNotice;
using service::MakeUser;
using service::UserPtr;

/// Returns a digest of everything that the answer depends on. Caches use it as key, so they store neither credentials
/// nor paths.
Digest KeyOf(const AuthenticationQuestion& question);
Digest KeyOf(const AuthorizationQuestion& question);

}  // namespace apimesh::aggregator
