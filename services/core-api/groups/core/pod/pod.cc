#include "services/core-api/groups/core/pod/pod.h"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "lib/meta/equal.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/core/pod/qos.h"
#include "services/core-api/groups/core/pod/status_ips.h"
#include "services/core-api/groups/core/pod/table.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/groups/walk.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

void CopyField(object& to, const object& from, std::string_view field) {
  if (const value* found = meta::FindField(from, field)) {
    to[field] = *found;
  } else {
    meta::EraseField(to, field);
  }
}

const object& Spec(const meta::Object& pod) {
  static const object empty;
  const value* spec = meta::FindField(pod.Root(), "spec");
  return spec && spec->is_object() ? spec->get_object() : empty;
}

/// `spec` with everything that an update of a pod may change taken from `old`.
object WithoutChangeable(const object& spec, const object& old) {
  object result(spec);
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = Objects(meta::FindField(result, list));
    const auto old_containers = Objects(meta::FindField(old, list));
    for (std::size_t i = 0; i < containers.size() && i < old_containers.size(); ++i) CopyField(containers[i].get(), old_containers[i].get(), "image");
  }
  for (const char* field : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) CopyField(result, old, field);
  const value* grace = meta::FindField(old, "terminationGracePeriodSeconds");
  const value* new_grace = meta::FindField(result, "terminationGracePeriodSeconds");
  if (grace && grace->is_int64() && grace->get_int64() < 0 && new_grace && *new_grace == 1) CopyField(result, old, "terminationGracePeriodSeconds");
  if (!Objects(meta::FindField(old, "schedulingGates")).empty()) {
    CopyField(result, old, "nodeSelector");
    CopyField(result, old, "affinity");
  }
  return result;
}

void ValidateDeadline(const Check& spec, const object& old, meta::FieldErrors& errors) {
  const auto deadline = spec.Number("activeDeadlineSeconds");
  const value* before = meta::FindField(old, "activeDeadlineSeconds");
  if (deadline && before && before->is_int64() && before->get_int64() < *deadline) {
    spec.Invalid("activeDeadlineSeconds", "must be less than or equal to previous value");
  } else if (!deadline && before && before->is_int64()) {
    errors.push_back(meta::Invalid("spec.activeDeadlineSeconds", "null", "must not update from a positive integer to nil value"));
  }
}

bool OnlyAddsTolerations(const object& spec, const object& old) {
  const auto identity = [](const object& toleration) {  // everything but the seconds, which may change
    object copy(toleration);
    meta::EraseField(copy, "tolerationSeconds");
    return boost::json::serialize(copy);
  };
  std::set<std::string> now;
  for (const object& toleration : Objects(meta::FindField(spec, "tolerations"))) now.insert(identity(toleration));
  for (const object& before : Objects(meta::FindField(old, "tolerations"))) {
    if (!now.contains(identity(before))) return false;
  }
  return true;
}

class PodStrategy final : public registry::Strategy {
 public:
  void Default(object& pod) const override { DefaultPod(pod); }

  void PrepareForCreate(const meta::RequestContext&, meta::Object& pod) const override {
    object& status = pod.Root()["status"].emplace_object();
    status["phase"] = "Pending";
    if (!Objects(meta::FindField(Spec(pod), "schedulingGates")).empty()) {
      status["conditions"] = meta::json::array{object{{"type", "PodScheduled"},
                                                      {"status", "False"},
                                                      {"lastProbeTime", nullptr},
                                                      {"lastTransitionTime", nullptr},
                                                      {"reason", "SchedulingGated"},
                                                      {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
    }
    status["qosClass"] = QosClass(pod.Root());
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& pod) const override {
    meta::FieldErrors errors = ValidatePodSpec(Spec(pod), meta::Path("spec"), pod.Name());
    ValidateForPodsOnly(pod, errors);
    if (!Objects(meta::FindField(Spec(pod), "ephemeralContainers")).empty()) {
      errors.push_back(meta::Forbidden("spec.ephemeralContainers", "cannot be set on create"));
    }
    if (!meta::FindString(Spec(pod), "nodeName").empty() && !Objects(meta::FindField(Spec(pod), "schedulingGates")).empty()) {
      errors.push_back(meta::Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
    }
    return errors;
  }

  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    CopyField(pod.Root(), old.Root(), "status");
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod, const meta::Object& old) const override {
    const object &spec = Spec(pod), &before = Spec(old);
    meta::FieldErrors errors = ValidatePodSpec(spec, meta::Path("spec"), pod.Name());
    ValidateForPodsOnly(pod, errors);
    for (const char* list : {"containers", "initContainers"}) {
      if (Objects(meta::FindField(spec, list)).size() != Objects(meta::FindField(before, list)).size()) {
        errors.push_back(meta::Forbidden(fmt::format("spec.{}", list), "pod updates may not add or remove containers"));
        return errors;
      }
    }
    ValidateDeadline(Check(spec, meta::Path("spec"), errors), before, errors);
    if (!OnlyAddsTolerations(spec, before)) {
      errors.push_back(meta::Forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"));
    }
    if (!meta::Equal(spec, before) && !meta::Equal(WithoutChangeable(spec, before), before)) {
      errors.push_back(meta::Forbidden("spec",
                                       "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
                                       "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
                                       "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"));
    }
    return errors;
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& pod, const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (old) return warnings;
    if (const meta::Complaints complaints = meta::CheckDnsLabel(pod.Name()); !complaints.empty()) {
      warnings.push_back(fmt::format(
          "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [{}]",
          fmt::join(complaints, " ")));
    }
    return warnings;
  }

  std::optional<std::int64_t> GracePeriod(const meta::Object& pod, std::optional<std::int64_t> asked) const override {
    const value* own = meta::FindField(Spec(pod), "terminationGracePeriodSeconds");
    std::int64_t period = asked ? *asked : own && own->is_int64() ? own->get_int64() : 0;
    // Nobody would confirm the end of a pod that no node runs or that has ended already.
    if (meta::FindString(Spec(pod), "nodeName").empty()) period = 0;
    const std::string_view phase = meta::FindString(pod.Root(), "status", "phase");
    if (phase == "Failed" || phase == "Succeeded") period = 0;
    return period < 0 ? 1 : period;
  }

 private:
  static void ValidateForPodsOnly(const meta::Object& pod, meta::FieldErrors& errors) {
    const Check spec(Spec(pod), meta::Path("spec"), errors);
    for (const char* list : {"containers", "initContainers"}) {
      for (const Check& container : spec.Each(list)) {
        const std::string_view image = container.Text("image");
        if (!image.empty() && (std::isspace(static_cast<unsigned char>(image.front())) || std::isspace(static_cast<unsigned char>(image.back())))) {
          container.Invalid("image", "must not have leading or trailing whitespace");
        }
      }
    }
    if (spec.IsTrue("hostNetwork")) {
      for (const Check& container : spec.Each("containers")) {
        for (const Check& port : container.Each("ports")) {
          if (port.Number("hostPort") != port.Number("containerPort")) port.Invalid("hostPort", "must match `containerPort` when `hostNetwork` is true");
        }
      }
    }
  }
};

/// The status subresource: a kubelet's view. Nothing but status changes.
class PodStatusStrategy final : public registry::Strategy {
 public:
  void Default(object& pod) const override { DefaultPod(pod); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    CopyField(pod.Root(), old.Root(), "spec");
    CopyField(pod.Metadata(), old.Metadata(), "ownerReferences");
    CopyField(pod.Metadata(), old.Metadata(), "deletionTimestamp");
    if (value* status = meta::FindField(pod.Root(), "status"); status && status->is_object() && meta::FindString(status->get_object(), "qosClass").empty()) {
      if (const value* before = meta::Find(old.Root(), "status", "qosClass")) status->get_object()["qosClass"] = *before;
    }
    SyncPodIps(pod.Root());
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod, const meta::Object& old) const override {
    return ValidateStatusIps(pod, old);
  }
};

/// Only ephemeral containers may be added, and never changed or removed.
class EphemeralContainersStrategy final : public registry::Strategy {
 public:
  void Default(object& pod) const override { DefaultPod(pod); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    object spec(Spec(old), pod.Root().storage());
    CopyField(spec, Spec(pod), "ephemeralContainers");
    pod.Root()["spec"] = std::move(spec);
    CopyField(pod.Root(), old.Root(), "status");
    for (const char* field : {"labels", "annotations", "finalizers", "ownerReferences"}) CopyField(pod.Metadata(), old.Metadata(), field);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod, const meta::Object& old) const override {
    meta::FieldErrors errors = ValidatePodSpec(Spec(pod), meta::Path("spec"), pod.Name());
    std::map<std::string_view, std::reference_wrapper<const object>> now;
    for (const object& one : Objects(meta::FindField(Spec(pod), "ephemeralContainers"))) now.try_emplace(meta::FindString(one, "name"), one);
    for (const object& before : Objects(meta::FindField(Spec(old), "ephemeralContainers"))) {
      const std::string_view name = meta::FindString(before, "name");
      const auto found = now.find(name);
      if (found == now.end()) {
        errors.push_back(meta::Forbidden("spec.ephemeralContainers", fmt::format("existing ephemeral containers {} may not be removed\n", meta::Quoted(name))));
      } else if (!meta::Equal(found->second.get(), before)) {
        errors.push_back(meta::Forbidden("spec.ephemeralContainers", fmt::format("existing ephemeral containers {} may not be changed\n", meta::Quoted(name))));
      }
    }
    return errors;
  }
};

}  // namespace

registry::Resource PodResource() {
  registry::Resource resource = FromTable("", "v1", "pods", std::make_shared<PodStrategy>());
  resource.selectable_fields = {"spec.nodeName",  "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
                                "spec.hostNetwork", "status.phase",      "status.podIP",       "status.nominatedNodeName"};
  resource.field_defaults = {"", "", "", "", "false"};  // spec.hostNetwork
  resource.table = PodTable();
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<PodStatusStrategy>();
  status.reset_fields = {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"};
  SubresourceOf(resource, "ephemeralcontainers").strategy = std::make_shared<EphemeralContainersStrategy>();
  return resource;
}

}  // namespace apimesh::core_api
