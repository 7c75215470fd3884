#pragma once

#include <memory>

#include "lib/mesh/api_client.h"
#include "services/aggregator/fairness/configuration.h"

namespace apimesh::aggregator {

/// Writes the condition Dangling of FlowSchemas, which tells whether their priority level exists, where it differs.
/// A FlowSchema is written at most 6 times a minute, because two servers of different versions may disagree about it.
class DanglingConditions {
 public:
  DanglingConditions(std::shared_ptr<mesh::DelegateClient> core_api, const Clock& clock)
      : api_(std::move(core_api)), clock_(clock) {}

  /// Only one call at a time. Returns whether conditions remain to be written, because a write failed or was too early.
  Task<bool> Write(const FairnessObjects& objects);

 private:
  bool TooOften(const std::string& name);

  const mesh::ApiClient api_;
  const Clock& clock_;
  std::map<std::string, std::vector<SteadyTime>> writes_;  // of the last minute, by the name of the FlowSchema
};

}  // namespace apimesh::aggregator
