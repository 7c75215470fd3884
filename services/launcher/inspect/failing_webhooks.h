#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "services/launcher/inspect/run_folder.h"

namespace apimesh::launcher {

/// An admission webhook all of whose calls have failed for at least 30 seconds (docs/decisions/0026).
struct FailingWebhook {
  std::string name, configuration;
  bool mutating = false;
  bool rejects = false;  // its failurePolicy is Fail
  double seconds = 0;

  /// Says what fails, what the effect is, and what an administrator can do.
  std::string Describe() const;
};

/// Asks a mesh with the administrator's certificate. Returns none if it is not ready.
std::vector<FailingWebhook> FindFailingWebhooks(const RunFolder& folder, const RunFolder::State& state);

/// Reads the webhooks from the metrics of a mesh, in the text format of Prometheus. Several processes can report the
/// same webhook; the longest time counts.
std::vector<FailingWebhook> ReadFailingWebhooks(std::string_view metrics);

}  // namespace apimesh::launcher
