#include "services/core-api/groups/core/pod/pod.h"

#include <fmt/format.h>

#include "lib/meta/time.h"
#include "services/core-api/groups/core/pod/binding/binding.h"
#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/groups/core/pod/ephemeral_containers.h"
#include "services/core-api/groups/core/pod/eviction/eviction.h"
#include "services/core-api/groups/core/pod/match_label_keys.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod/pod_subresource.h"
#include "services/core-api/groups/core/pod/qos.h"
#include "services/core-api/groups/core/pod/resize/resize.h"
#include "services/core-api/groups/core/pod/status_ips.h"
#include "services/core-api/groups/core/pod/status_rules.h"
#include "services/core-api/groups/core/pod/table.h"
#include "services/core-api/groups/core/pod/update_rules.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

class PodStrategy final : public registry::Strategy {
 public:
  /// `clock` may be nullptr in tests.
  explicit PodStrategy(const Clock* clock) : clock_(clock) {}

  void Default(object& pod) const override {
    DefaultPod(pod);
    SyncPodIps(pod);
  }

  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& pod) const override {
    object& status = pod.Root()["status"].emplace_object();
    status["phase"] = "Pending";
    if (!Objects(meta::FindField(PodSpecOf(pod), "schedulingGates")).empty()) {
      status["conditions"] =
          meta::json::array{object{{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"lastProbeTime", nullptr},
                                   {"lastTransitionTime", clock_ ? value(meta::FormatTime(clock_->Now())) : value()},
                                   {"reason", "SchedulingGated"},
                                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
    }
    status["qosClass"] = QosClass(pod.Root());
    ApplyMatchLabelKeys(pod);
    ApplyAppArmorAnnotations(ctx, pod);
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& pod) const override {
    meta::FieldErrors errors = ValidatePodContent(pod, nullptr);
    const object& spec = PodSpecOf(pod);
    if (!Objects(meta::FindField(spec, "ephemeralContainers")).empty()) {
      errors.push_back(meta::Forbidden("spec.ephemeralContainers", "cannot be set on create"));
    }
    if (!meta::FindString(spec, "nodeName").empty() && !Objects(meta::FindField(spec, "schedulingGates")).empty()) {
      errors.push_back(meta::Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
    }
    ValidateProfileAnnotations(pod, errors);
    return errors;
  }

  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    CopyField(pod.Root(), old.Root(), "status");
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod,
                                   const meta::Object& old) const override {
    return ValidatePodUpdate(pod, old);
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& pod,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (old) return warnings;
    if (const meta::Complaints complaints = meta::CheckDnsLabel(pod.Name()); !complaints.empty()) {
      warnings.push_back(
          fmt::format("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a "
                      "DNS label is recommended: [{}]",
                      fmt::join(complaints, " ")));
    }
    meta::FieldErrors unused;
    for (std::string& text : PodWarnings(Check(pod.Root(), meta::Path(""), unused), WarningsFor::kPod))
      warnings.push_back(std::move(text));
    return warnings;
  }

  std::optional<std::int64_t> GracePeriod(const meta::Object& pod, std::optional<std::int64_t> asked) const override {
    const value* own = meta::FindField(PodSpecOf(pod), "terminationGracePeriodSeconds");
    std::int64_t period = asked ? *asked : own && own->is_int64() ? own->get_int64() : 0;
    // No kubelet confirms the termination of a pod that has no node or has already terminated.
    if (meta::FindString(PodSpecOf(pod), "nodeName").empty()) period = 0;
    const std::string_view phase = meta::FindString(pod.Root(), "status", "phase");
    if (phase == "Failed" || phase == "Succeeded") period = 0;
    return period < 0 ? 1 : period;
  }

 private:
  const Clock* clock_;
};

/// The strategy of the status subresource, which kubelets write. The spec does not change.
class PodStatusStrategy final : public PodSubresource {
 public:
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    CopyField(pod.Root(), old.Root(), "spec");
    CopyField(pod.Metadata(), old.Metadata(), "ownerReferences");
    CopyField(pod.Metadata(), old.Metadata(), "deletionTimestamp");
    if (value* status = meta::FindField(pod.Root(), "status");
        status && status->is_object() && meta::FindString(status->get_object(), "qosClass").empty()) {
      if (const value* before = meta::Find(old.Root(), "status", "qosClass"))
        status->get_object()["qosClass"] = *before;
    }
    KeepObservedGenerations(pod, old);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod,
                                   const meta::Object& old) const override {
    return ValidatePodStatusUpdate(pod, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& pod,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    for (const char* list : {"podIPs", "hostIPs"}) {
      const meta::Path path = meta::Path("status").Child(list);
      std::size_t index = 0;
      for (const object& one : Objects(meta::Find(pod.Root(), "status", list))) {
        for (std::string& text : IpWarnings(path.Index(index).Child("ip"), meta::FindString(one, "ip")))
          warnings.push_back(std::move(text));
        ++index;
      }
    }
    return warnings;
  }
};

}  // namespace

registry::Resource PodResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "pods", std::make_shared<PodStrategy>(inputs.clock));
  resource.generation = true;
  resource.returns_deleted_object = true;
  resource.selectable_fields = {
      "spec.nodeName",    "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
      "spec.hostNetwork", "status.phase",       "status.podIP",       "status.nominatedNodeName"};
  resource.field_defaults = {"", "", "", "", "false"};  // the last one is spec.hostNetwork
  resource.table = PodTable();
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<PodStatusStrategy>();
  status.reset_fields = {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"};
  SubresourceOf(resource, "ephemeralcontainers").strategy = EphemeralContainersStrategy();
  SubresourceOf(resource, "resize").strategy = ResizeStrategy();
  SubresourceOf(resource, "binding").create = BindingAction(inputs.StoreOf(resource.GetGvr()), inputs.clock);
  SubresourceOf(resource, "eviction").create =
      EvictionAction(inputs.StoreOf(resource.GetGvr()), inputs.api.send, inputs.clock);
  SubresourceOf(resource, "attach").connector = AttachConnector(inputs);
  SubresourceOf(resource, "exec").connector = ExecConnector(inputs);
  SubresourceOf(resource, "log").connector = LogConnector(inputs);
  SubresourceOf(resource, "portforward").connector = PortForwardConnector(inputs);
  SubresourceOf(resource, "proxy").connector = PodProxyConnector(inputs.api.read, inputs.cluster_client);
  return resource;
}

}  // namespace apimesh::core_api
