#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/async/wakeup.h"
#include "lib/meta/gvk.h"

namespace apimesh::extensions_api {

/// A definition that the controller has seen, and the resources that are served for it: none if its names are taken.
struct ServedDefinition {
  std::string uid;
  std::vector<meta::Gvr> resources;
};

/// The definitions that the controller has seen. Requests that create a definition wait here until it is served.
/// Thread-safe.
class ServedDefinitions {
 public:
  /// Called by the controller before the server serves the new state, so that the OpenAPI documents are complete when
  /// the aggregator learns of it.
  void Put(const std::string& name, ServedDefinition definition);
  void Remove(const std::string& name);
  /// Called by the controller when the server serves the new state of the definition.
  void Wake(const std::string& name);

  /// Returns whether resources of the definition with this uid are served.
  bool Contains(const std::string& name, std::string_view uid) const;
  /// Waits until the controller has seen the definition and returns its resources. Returns none if `deadline` passes.
  static Task<std::vector<meta::Gvr>> Wait(std::shared_ptr<ServedDefinitions> self, std::string name, std::string uid,
                                           SteadyTime deadline);

 private:
  struct Known {
    ServedDefinition definition;
    bool current = false;  // the server serves this state
  };

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;                           // guarded by mutex_
  std::multimap<std::string, std::shared_ptr<Wakeup>> waiting_;  // guarded by mutex_
};

}  // namespace apimesh::extensions_api
