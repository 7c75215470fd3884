#include "lib/admission/plugins/job_validation/job_validation.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

const meta::Gvr kPodGroups{"scheduling.k8s.io", "v1alpha2", "podgroups"};

bool IsGang(const meta::Object& group) { return Has(ObjectAt(SpecOf(group), "schedulingPolicy"), "gang"); }

bool IsControlledBy(const meta::Object& group, const meta::Object& job) {
  return AnyOf(ListAt(group.Metadata(), "ownerReferences"), [&job](const json::object& owner) {
    return BoolAt(owner, "controller").value_or(false) && FindString(owner, "uid") == job.Uid();
  });
}

class JobValidation final : public Plugin {
 public:
  explicit JobValidation(const PluginInputs& inputs)
      : enabled_(inputs.features.Enabled(features::kGenericWorkload)), objects_(inputs.objects) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return enabled_ && phase == Phase::kValidate && attributes.operation == Operation::kUpdate &&
           attributes.subresource.empty() && IsResource(attributes, "batch", "jobs") && objects_ != nullptr &&
           NumberAt(SpecOf(std::as_const(*attributes.object)), "parallelism") !=
               NumberAt(SpecOf(*attributes.old_object), "parallelism");
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const meta::Object& old = *attributes.old_object;
    const std::string name(FindString(SpecOf(old), "template", "spec", "schedulingGroup", "podGroupName"));
    std::vector<ObjectPtr> groups;
    if (!name.empty()) {
      const meta::Result<ObjectPtr> named = co_await objects_->Get(ctx, kPodGroups, attributes.ns, name, Read::kCached);
      if (named) groups.push_back(*named);
    } else {
      meta::LabelSelector all;
      meta::Result<std::vector<ObjectPtr>> found =
          co_await objects_->List(ctx, kPodGroups, attributes.ns, all, Read::kCached);
      // PodGroups may not be served at all. Then no job is scheduled as a gang.
      if (found) groups = *std::move(found);
      std::erase_if(groups, [&old](const ObjectPtr& group) { return !IsControlledBy(*group, old); });
    }
    for (const ObjectPtr& group : groups) {
      if (!IsGang(*group)) continue;
      co_return Forbidden(attributes,
                          fmt::format("cannot change parallelism for a Job referencing gang-scheduled PodGroup {}",
                                      meta::Quoted(group->Name())));
    }
    co_return meta::Result<>();
  }

 private:
  const bool enabled_;  // WorkloadWithJob, the other gate of these groups, needs this one
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeJobValidation(const PluginInputs& inputs) {
  return std::make_unique<JobValidation>(inputs);
}

}  // namespace apimesh::admission
