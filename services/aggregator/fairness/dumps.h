#pragma once

#include <string>

#include "services/aggregator/fairness/controller.h"

namespace apimesh::aggregator {

// The pages below /debug/api_priority_and_fairness/: tables with comma-separated columns, as in kube-apiserver.
std::string DumpPriorityLevels(const FairnessController& controller);
std::string DumpQueues(const FairnessController& controller);
/// `details`: also the user and the request itself.
std::string DumpRequests(const FairnessController& controller, const Clock& clock, bool details);

}  // namespace apimesh::aggregator
