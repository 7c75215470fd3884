#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/http/proxy/dialer.h"
#include "lib/net/tls/tls.h"
#include "lib/net/transport.h"

namespace apimesh::grpc {

struct Address {
  std::string text;  // "unix:/path" or "ip:port"
  std::string host;  // the host of the target: for certificates and for :authority
};
/// The addresses of a target, which may consist of several targets separated by commas. "unix:/path" and numeric
/// addresses are used as they are; a name is looked up, unless a dialer will look it up. If the result is empty, `why`
/// is the reason.
Task<std::vector<Address>> LookUp(std::string target, bool has_dialer, std::string& why);

/// Whether a target is a name, which must be looked up.
bool IsName(const std::string& target);

struct DialOptions {
  const Clock& clock;
  net::ClientTls* tls = nullptr;
  std::shared_ptr<http::Dialer> dialer = nullptr;  // opens the connections that are not to Unix sockets
  bool same_user = false;                          // refuses a Unix socket that a process of another user serves
};
/// Connects to one address and performs the TLS handshake. If the result is nullptr, `why` is the reason.
Task<std::unique_ptr<net::Transport>> Dial(Address address, DialOptions options, SteadyTime deadline, std::string& why);

}  // namespace apimesh::grpc
