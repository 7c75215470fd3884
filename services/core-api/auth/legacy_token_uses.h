#pragma once

#include <string>

#include "lib/base/clock.h"
#include "services/core-api/own_api.h"

namespace apimesh::grpc {
class Methods;
}

namespace apimesh::core_api {

/// A Secret with a service-account token that was used to authenticate.
struct LegacyTokenUse {
  std::string ns, secret, uid;
};

/// Sets the label kubernetes.io/legacy-token-last-used of the Secret to the current date, unless it has this date or
/// the next one. Returns false if the write fails, so that the next use must be recorded. A Secret that no longer
/// exists, or has another uid or type, is not changed.
Task<bool> RecordLegacyTokenUse(OwnApi api, LegacyTokenUse use, const Clock& clock);

/// Serves the gRPC service LegacyTokens, by which authn-authz reports uses.
void AddLegacyTokenMethods(OwnApi api, const Clock& clock, grpc::Methods& methods);

}  // namespace apimesh::core_api
