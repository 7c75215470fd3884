#include "services/extensions-api/flags.h"

namespace apimesh::extensions_api {

void Flags::Bind(flags::Binder& flags) {
  common.Bind(flags);
  etcd.Bind(flags);
  admission.Bind(flags);
  flags.Bind("enable-aggregator-routing", enable_aggregator_routing);
  flags.Bind("core-api", core_api);
  flags.Require("core-api");
  flags.Bind("authn-authz", authn_authz);
  flags.Bind("api-groups", api_groups);
  sharding.Bind(flags);
  flags.Bind("min-request-timeout", min_request_timeout);
  flags.Bind("delete-collection-workers", delete_collection_workers);
  flags.Bind("apiserver-count", apiserver_count);
  flags.Bind("descriptions-file", descriptions_file);
}

}  // namespace apimesh::extensions_api
