#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/service/auth_client.h"
#include "lib/storage/store.h"

namespace apimesh::aggregator {

struct ApiServiceServerParts {
  const Clock& clock;
  storage::StorePtr store;
  service::AuthClientPtr auth;
  admission::ChainPtr admission;
  std::string descriptions_file;  // the texts of the OpenAPI documents; may be empty
  features::FeatureGates features = {};
  boost::asio::any_io_executor large_requests;  // see endpoint::Environment; all other parts are thread-safe
};

/// Creates the server for APIService, the only kind that the aggregator serves itself.
std::shared_ptr<endpoint::GroupServer> NewApiServiceServer(ApiServiceServerParts parts);

}  // namespace apimesh::aggregator
