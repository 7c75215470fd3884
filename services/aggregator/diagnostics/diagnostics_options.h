#pragma once

#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::aggregator {

struct DiagnosticsOptions {
  bool profiling;
  std::string debug_socket;      // path of a Unix socket that serves /debug without authentication; "": none
  std::string flag_values_file;  // JSON: the flags of kube-apiserver by name; "": those of this process

  DiagnosticsOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("profiling", profiling);
    flags.Bind("debug-socket-path", debug_socket);
    flags.Bind("flag-values-file", flag_values_file);
  }
};

}  // namespace apimesh::aggregator
