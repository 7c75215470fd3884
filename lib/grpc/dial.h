#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/net/tls/tls.h"
#include "lib/net/transport.h"

namespace apimesh::grpc {

struct Address {
  std::string text;  // "unix:/path" or "ip:port"
  std::string host;  // the host of the target: for certificates and for :authority
};
/// The addresses of a target, which may consist of several targets separated by commas. "unix:/path" and numeric
/// addresses are used as they are; a name is looked up. If the result is empty, `why` is the reason.
Task<std::vector<Address>> LookUp(std::string target, std::string& why);

/// Whether a target is a name, which must be looked up.
bool IsName(const std::string& target);

/// Connects to one address and performs the TLS handshake. If the result is nullptr, `why` is the reason. `same_user`:
/// refuses a Unix socket that a process of another user serves.
Task<std::unique_ptr<net::Transport>> Dial(Address address, net::ClientTls* tls, SteadyTime deadline,
                                           const Clock& clock, std::string& why, bool same_user = false);

}  // namespace apimesh::grpc
