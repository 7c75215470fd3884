#pragma once

#include <string>

namespace apimesh {

/// "host:port", unless `host` has a port already. An IPv6 address gets brackets.
std::string WithPort(const std::string& host, int port);

}  // namespace apimesh
