#pragma once

#include <string>

#include "lib/flags/binder.h"

namespace apimesh::service {

/// The flags of tracing. Like the tracer, they belong to the process and not to a server in it.
struct TracingFlags {
  std::string config_file;  // empty: no tracing
  std::string exporter;     // "grpc" or "http"

  void Bind(flags::Binder& flags);
  /// The flags that CommonFlags::Bind() has bound last.
  static TracingFlags& OfProcess();
};

}  // namespace apimesh::service
