#pragma once

#include <string>
#include <vector>

#include "lib/admission/all_plugins.h"
#include "lib/service/flags.h"
#include "lib/service/sharding/flags.h"

namespace apimesh::extensions_api {

/// All options of extensions-api.
struct Flags {
  service::CommonFlags common;
  service::EtcdFlags etcd;
  admission::PluginChoice admission;
  std::vector<std::string> core_api;  // address of core-api, from which admission reads namespaces and other objects
  std::string authn_authz;            // address of authn-authz
  service::ShardFlags sharding;
  std::vector<std::string> api_groups;  // the groups of a shard
  int min_request_timeout;
  int delete_collection_workers;
  int apiserver_count;  // with several replicas, a definition is served for some seconds before it is Established
  std::string descriptions_file;   // texts for the OpenAPI documents
  bool enable_aggregator_routing;  // conversion webhooks are called at the endpoints of their services

  Flags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
};

}  // namespace apimesh::extensions_api
