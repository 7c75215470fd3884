#pragma once

#include <string>
#include <vector>

#include "lib/service/flags.h"

namespace apimesh::extensions_api {

struct Flags {
  service::CommonFlags common;
  service::EtcdFlags etcd;
  std::string core_api;     // where core-api is: namespaces and other kinds that admission reads
  std::string authn_authz;  // where authn-authz is
  int min_request_timeout = 1800;
  std::vector<std::string> enable_admission_plugins, disable_admission_plugins, admission_control;

  void AddTo(CLI::App& app);
};

}  // namespace apimesh::extensions_api
