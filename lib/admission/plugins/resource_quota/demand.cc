#include "lib/admission/plugins/resource_quota/demand.h"

namespace apimesh::admission::resource_quota {

Demand DemandOf(const Attributes& attributes, EvaluatorPtr evaluator) {
  Demand demand;
  demand.request = attributes;
  if (demand.request.name.empty()) demand.request.name = attributes.object->Name();
  if (demand.request.name.empty()) demand.request.name = attributes.object->GenerateName();
  demand.request.object = nullptr;
  demand.request.old_object = nullptr;
  demand.request.options = nullptr;
  demand.now = evaluator->Measure(*attributes.object);
  const meta::Object* old = attributes.old_object;
  // An old object without a version is not stored: the update creates the object.
  if (attributes.operation == Operation::kUpdate && old && !old->ResourceVersion().empty())
    demand.before = evaluator->Measure(*old);
  demand.evaluator = std::move(evaluator);
  return demand;
}

}  // namespace apimesh::admission::resource_quota
