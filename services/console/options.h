#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/service/flags.h"

namespace apimesh::console {

struct Options {
  service::CommonFlags common;  // only those of BindProcessFlags()
  std::string address;
  int port;
  std::vector<std::string> hosts;
  std::string tls_cert_file, tls_key_file;
  std::string files;
  std::string kubeconfig;
  std::string login_folder;
  std::chrono::milliseconds session_lifetime;

  Options() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
  bool Tls() const { return !tls_cert_file.empty(); }
};

/// Throws std::runtime_error if the options must not be used together.
void Check(const Options& options);

}  // namespace apimesh::console
