#include "lib/admission/plugins/pod_group_workload_exists/pod_group_workload_exists.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

const json::object& WorkloadReference(const meta::Object& group) {
  return ObjectAt(ObjectAt(SpecOf(group), "podGroupTemplateRef"), "workload");
}

class PodGroupWorkloadExists final : public Plugin {
 public:
  explicit PodGroupWorkloadExists(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.operation == Operation::kCreate && attributes.subresource.empty() &&
           IsResource(attributes, "scheduling.k8s.io", "podgroups") &&
           Has(ObjectAt(SpecOf(std::as_const(*attributes.object)), "podGroupTemplateRef"), "workload");
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    if (!objects_) co_return meta::InternalError("workloads cannot be read here");
    const json::object& reference = WorkloadReference(*attributes.object);
    const std::string name(FindString(reference, "workloadName"));
    const std::string_view wanted = FindString(reference, "podGroupTemplateName");
    const meta::Gvr workloads{"scheduling.k8s.io", "v1alpha2", "workloads"};
    const meta::Result<ObjectPtr> found =
        co_await objects_->Get(ctx, workloads, attributes.ns, name, Read::kCachedElseNewest);
    if (!found && found.error().Is(meta::Reason::kNotFound))
      co_return Forbidden(attributes, fmt::format("PodGroup rejected: Workload {} not found", meta::Quoted(name)));
    if (!found) co_return meta::InternalError(found.error().Message());
    const meta::Object& workload = **found;
    if (!workload.DeletionTimestamp().empty()) {
      co_return Forbidden(attributes,
                          fmt::format("PodGroup rejected: Workload {} is being deleted", meta::Quoted(name)));
    }
    const bool exists = AnyOf(ListAt(SpecOf(workload), "podGroupTemplates"),
                              [wanted](const json::object& one) { return FindString(one, "name") == wanted; });
    if (exists) co_return meta::Result<>();
    co_return Forbidden(attributes, fmt::format("PodGroup rejected: PodGroupTemplate {} not found in Workload {}",
                                                meta::Quoted(wanted), meta::Quoted(name)));
  }

 private:
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakePodGroupWorkloadExists(const PluginInputs& inputs) {
  return std::make_unique<PodGroupWorkloadExists>(inputs.objects);
}

}  // namespace apimesh::admission
