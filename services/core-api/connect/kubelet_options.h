#pragma once

#include <string>
#include <vector>

namespace apimesh::core_api {

/// How kubelets are reached.
struct KubeletOptions {
  std::string ca_file;  // empty: any certificate is taken
  std::string cert_file, key_file;
  std::vector<std::string> address_types = {"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"};
};

}  // namespace apimesh::core_api
