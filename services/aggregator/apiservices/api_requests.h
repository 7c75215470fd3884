#pragma once

#include <memory>
#include <string>

#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

/// A request of the aggregator's own, as system:apiserver. `body` is JSON.
Task<meta::Result<meta::Object>> SendRequest(std::shared_ptr<rpc::DelegateClient> server, std::string method, std::string path,
                                             std::string query, std::string body);

/// A server of this very process as the rest of the aggregator sees servers.
std::shared_ptr<rpc::DelegateClient> InProcess(std::shared_ptr<rpc::DelegateHandler> handler);

}  // namespace apimesh::aggregator
