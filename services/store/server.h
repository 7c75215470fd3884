#pragma once

#include <memory>
#include <vector>

#include "lib/base/clock.h"
#include "services/store/options/options.h"

namespace apimesh::store {

/// A running store. Start() loads the data and listens; Run() serves until Stop().
class Server {
 public:
  Server(Options options, const Clock& clock);
  ~Server();

  /// Throws an exception with a message for the user: unreadable data, an address in use, invalid certificates.
  void Start();
  void Run();
  /// May be called from any thread. Running calls finish and everything is written to disk, then Run() returns.
  void Stop();
  /// The ports of listen_client_urls, in order (0: a Unix socket).
  const std::vector<int>& Ports() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::store
