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

struct Address {
  std::string text;  // "unix:/path" or "ip:port"
  std::string host;  // as the target has it: for certificates and for :authority
};
/// The addresses behind a target (one, or several with commas between them): "unix:/path" and numeric ones are themselves,
/// a name is looked up. Empty: `why` tells.
Task<std::vector<Address>> LookUp(std::string target, std::string& why);

/// Whether a target has to be looked up.
bool IsName(const std::string& target);

/// Connects to one address and shakes hands. Null: `why` tells.
Task<std::unique_ptr<http::Transport>> Dial(Address address, http::ClientTls* tls, SteadyTime deadline, std::string& why);

}  // namespace apimesh::h2
