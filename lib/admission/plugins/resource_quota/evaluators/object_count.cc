#include "lib/admission/plugins/resource_quota/evaluators/object_count.h"

#include <algorithm>

namespace apimesh::admission::resource_quota {
namespace {

class ObjectCountEvaluator final : public Evaluator {
 public:
  explicit ObjectCountEvaluator(const meta::GroupResource& resource) {
    names_.push_back(CountName(resource));
    static constexpr std::string_view kShortNames[] = {"configmaps", "resourcequotas", "replicationcontrollers",
                                                       "secrets"};
    const bool has_short_name = resource.group.empty() && std::find(std::begin(kShortNames), std::end(kShortNames),
                                                                    resource.resource) != std::end(kShortNames);
    if (has_short_name) names_.push_back(resource.resource);
  }

  bool Uses(std::string_view name) const override {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  Measurement Measure(const meta::Object&) const override {
    Measurement measured;
    for (const std::string& name : names_) measured.usage[name] = meta::Quantity(1);
    return measured;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

std::string CountName(const meta::GroupResource& resource) { return "count/" + resource.ToString(); }

EvaluatorPtr NewObjectCountEvaluator(const meta::GroupResource& resource) {
  return std::make_shared<const ObjectCountEvaluator>(resource);
}

}  // namespace apimesh::admission::resource_quota
