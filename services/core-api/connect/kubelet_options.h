#pragma once

#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::core_api {

/// Options of the connections to kubelets.
struct KubeletOptions {
  std::string ca_file;  // empty: any certificate is accepted
  std::string cert_file, key_file;
  std::vector<std::string> address_types;  // types of node addresses, in order of preference

  KubeletOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("kubelet-certificate-authority", ca_file);
    flags.Bind("kubelet-client-certificate", cert_file);
    flags.Bind("kubelet-client-key", key_file);
    flags.Bind("kubelet-preferred-address-types", address_types);
  }
};

}  // namespace apimesh::core_api
