#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apimesh::otlp {

/// The contents of --tracing-config-file: a TracingConfiguration of apiserver.config.k8s.io, v1, v1beta1 or v1alpha1.
struct Config {
  std::string endpoint;  // empty: the collector on this machine, at the default port of the protocol
  std::int64_t sampling_rate_per_million = 0;  // of requests that belong to no trace
};

/// Parses and validates the text of a configuration. Throws std::invalid_argument with the message of kube-apiserver.
Config ParseConfig(std::string_view text);
/// The same for a file.
Config ReadConfig(const std::string& path);

}  // namespace apimesh::otlp
