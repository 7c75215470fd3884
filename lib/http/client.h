#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/base/ip_address.h"
#include "lib/base/result.h"
#include "lib/http/server.h"

namespace apimesh::http {

struct ClientError {
  enum class Code {
    kUnknown,
    kLookup,
    kAddressNotAllowed,
    kConnect,
    kTls,
    kTimeout,
    kProtocol,
    kTooLarge,
    kUpgradeRefused
  };
  Code code = Code::kUnknown;
  std::string message;
};
template <class T = void>
using ClientResult = boost::system::result<T, ClientError>;
[[noreturn]] void throw_exception_from_error(const ClientError& error, const boost::source_location& where);

struct ClientResponse {
  int code = 0;
  Headers headers;
  std::string body;
  std::string_view Header(std::string_view name) const;
};

/// The networks of a cluster, which a process may reach through proxies (lib/http/proxy/dialer.h).
enum class Network { kDirect, kControlPlane, kEtcd, kCluster };

/// Resolves a host name or an address literal. Errors have the code kLookup.
using ResolveFn = std::function<Task<ClientResult<std::vector<IpAddress>>>(std::string host)>;

struct ClientOptions {
  const Clock& clock;
  net::ClientTlsOptions tls;
  std::size_t max_response_bytes = 16 << 20;
  std::size_t max_idle_connections = 32;
  /// If set, a connection is opened only if this function accepts every address of the host. The client connects to
  /// exactly the addresses that were checked; the name is not looked up again.
  std::function<bool(const IpAddress& address)> allow_address;
  ResolveFn resolve;  // default: the system's resolver
  Network network = Network::kDirect;
};

/// Keeps connections alive and reuses them. Does not follow redirects. Thread-safe.
class Client {
 public:
  virtual ~Client() = default;
  /// `url` is "http(s)://host:port/path?query".
  virtual Task<ClientResult<ClientResponse>> Do(std::string method, std::string url, Headers headers, std::string body,
                                                SteadyTime deadline) = 0;
  /// Receives the body piece by piece; it may suspend, which provides back-pressure. If it returns false, the transfer
  /// stops.
  using PieceFn = std::function<Task<bool>(std::string piece)>;
  virtual Task<ClientResult<ClientResponse>> Stream(std::string method, std::string url, Headers headers,
                                                    std::string body,
                                                    std::function<Task<bool>(int code, Headers headers)> head,
                                                    PieceFn piece, SteadyTime deadline) = 0;
  /// Sends a request with Upgrade headers. `response` is the head; if its code is 101, `connection` is set.
  struct Upgraded {
    ClientResponse response;
    std::unique_ptr<RawConnection> connection;
  };
  virtual Task<ClientResult<Upgraded>> Upgrade(std::string method, std::string url, Headers headers,
                                               SteadyTime deadline) = 0;
};
std::unique_ptr<Client> NewClient(ClientOptions options);

}  // namespace apimesh::http
