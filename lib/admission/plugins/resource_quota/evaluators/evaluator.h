#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "lib/admission/plugin.h"
#include "lib/admission/plugins/resource_quota/scopes.h"
#include "lib/admission/pod_resources.h"

namespace apimesh::admission::resource_quota {

/// What quotas need to know about one version of an object.
struct Measurement {
  Amounts usage;
  Scopes scopes;
  /// Amounts that the containers of a pod must specify if a quota limits them, with the names of the containers that do
  /// not.
  std::map<std::string, std::set<std::string>> unspecified;
};

/// Measures the objects of one resource. Immutable.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Returns whether an object of this resource can use the amount `name` of a quota ("pods", "requests.cpu").
  virtual bool Uses(std::string_view name) const = 0;
  virtual Measurement Measure(const meta::Object& object) const = 0;
};
using EvaluatorPtr = std::shared_ptr<const Evaluator>;

/// Returns the name under which quotas count objects: "count/deployments.apps".
std::string CountName(const meta::GroupResource& resource);

inline constexpr std::string_view kRequestsPrefix = "requests.";

}  // namespace apimesh::admission::resource_quota
