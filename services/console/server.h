#pragma once

#include <memory>

#include "lib/base/clock.h"
#include "lib/http/server.h"
#include "services/console/options.h"

namespace apimesh::console {

inline constexpr const char* kAbout =
    "The web console of a mesh: serves its pages, and forwards requests of a page to the API server with the "
    "credentials of the page's user.";

/// The console with its listener.
class ConsoleServer {
 public:
  /// Listens. Throws std::runtime_error.
  ConsoleServer(const Options& options, const Clock& clock);
  ~ConsoleServer();

  int Port() const;
  /// Stops accepting and ends all connections within `limit`. Blocks.
  void Drain(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::console
