#pragma once

#include <memory>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/service/auth_client.h"
#include "lib/storage/store.h"

namespace apimesh::aggregator {

/// Creates the server for APIService, the only kind that the aggregator serves itself. `descriptions_file` has the
/// texts of its OpenAPI documents and may be empty.
std::shared_ptr<endpoint::GroupServer> NewApiServiceServer(storage::StorePtr store, service::AuthClientPtr auth,
                                                           admission::ChainPtr admission,
                                                           const std::string& descriptions_file, const Clock& clock);

}  // namespace apimesh::aggregator
