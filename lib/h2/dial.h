#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/http/tls.h"
#include "lib/http/transport.h"

namespace apimesh::h2 {

/// The addresses behind a target: "unix:/path" and numeric ones are themselves, a name is looked up. Empty: `why` tells.
Task<std::vector<std::string>> LookUp(std::string target, std::string& why);

/// The host of a target, for certificates and for :authority.
std::string HostOf(const std::string& target);

/// Connects to one address ("unix:/path" or "ip:port") and shakes hands. Null: `why` tells.
Task<std::unique_ptr<http::Transport>> Dial(std::string address, std::string host, http::ClientTls* tls, SteadyTime deadline,
                                            std::string& why);

}  // namespace apimesh::h2
