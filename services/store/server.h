#pragma once

#include <memory>
#include <vector>

#include "lib/base/clock.h"
#include "services/store/options/options.h"

namespace apimesh::store {

/// A running store. Start() loads the data and listens; Run() serves until Stop().
class Server {
 public:
  explicit Server(Options options, const Clock& clock = Clock::System());
  ~Server();

  /// Throws with a sentence for the user: data that cannot be read, an address in use, certificates that do not fit.
  void Start();
  void Run();
  /// Any thread: lets calls that run finish, writes everything out, then Run() returns.
  void Stop();
  /// The ports of listen_client_urls, in order (0: a Unix socket).
  const std::vector<int>& Ports() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::store
