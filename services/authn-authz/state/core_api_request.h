#pragma once

#include <string>
#include <string_view>

#include "lib/rpc/delegate.h"

namespace apimesh::authn_authz {

/// A GET as the API server itself: user system:apiserver of group system:masters.
rpc::Request CoreApiRequest(std::string_view path, std::string_view query);

}  // namespace apimesh::authn_authz
