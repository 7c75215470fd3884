#pragma once

#include <memory>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/service/auth_client.h"
#include "lib/storage/store.h"

namespace apimesh::aggregator {

/// The server of the aggregator's own kind, APIService, in this process.
std::shared_ptr<endpoint::GroupServer> NewApiServiceServer(storage::StorePtr store, service::AuthClientPtr auth,
                                                           admission::ChainPtr admission);

}  // namespace apimesh::aggregator
