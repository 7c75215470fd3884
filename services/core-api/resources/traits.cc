#include "services/core-api/resources/traits.h"

#include <string_view>

namespace apimesh::core_api {
namespace {

enum : unsigned { kGeneration = 1, kNeedsVersion = 2, kCreateOnUpdate = 4, kReturnsDeleted = 8, kNotEnforced = 16 };

struct Row {
  std::string_view resource;  // as error texts name it: "deployments.apps"
  unsigned traits;
};
constexpr Row kRows[] = {
    {"mutatingadmissionpolicies.admissionregistration.k8s.io", kGeneration | kNeedsVersion | kNotEnforced},
    {"mutatingadmissionpolicybindings.admissionregistration.k8s.io", kGeneration | kNeedsVersion | kNotEnforced},
    {"mutatingwebhookconfigurations.admissionregistration.k8s.io", kGeneration | kNeedsVersion | kNotEnforced},
    {"validatingadmissionpolicies.admissionregistration.k8s.io", kGeneration | kNeedsVersion | kNotEnforced},
    {"validatingadmissionpolicybindings.admissionregistration.k8s.io", kGeneration | kNeedsVersion | kNotEnforced},
    {"validatingwebhookconfigurations.admissionregistration.k8s.io", kGeneration | kNeedsVersion | kNotEnforced},
    {"daemonsets.apps", kGeneration},
    {"deployments.apps", kGeneration},
    {"replicasets.apps", kGeneration},
    {"statefulsets.apps", kGeneration},
    {"cronjobs.batch", kGeneration},
    {"jobs.batch", kGeneration},
    {"endpoints", kCreateOnUpdate},
    {"events", kCreateOnUpdate},
    {"events.events.k8s.io", kCreateOnUpdate},
    {"limitranges", kCreateOnUpdate | kNotEnforced},
    {"namespaces", kReturnsDeleted},
    {"persistentvolumeclaims", kReturnsDeleted},
    {"persistentvolumes", kReturnsDeleted},
    {"pods", kGeneration | kReturnsDeleted},
    {"podtemplates", kGeneration | kReturnsDeleted},
    {"replicationcontrollers", kGeneration},
    {"resourcequotas", kReturnsDeleted | kNotEnforced},
    {"serviceaccounts", kReturnsDeleted},
    {"services", kCreateOnUpdate | kReturnsDeleted},
    {"leases.coordination.k8s.io", kNeedsVersion | kCreateOnUpdate},
    {"endpointslices.discovery.k8s.io", kGeneration},
    {"flowschemas.flowcontrol.apiserver.k8s.io", kGeneration | kNotEnforced},
    {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", kGeneration | kNotEnforced},
    {"ingressclasses.networking.k8s.io", kGeneration},
    {"ingresses.networking.k8s.io", kGeneration},
    {"networkpolicies.networking.k8s.io", kGeneration},
    {"runtimeclasses.node.k8s.io", kNeedsVersion | kCreateOnUpdate},
    {"poddisruptionbudgets.policy", kGeneration | kNeedsVersion},
    {"clusterrolebindings.rbac.authorization.k8s.io", kCreateOnUpdate},
    {"clusterroles.rbac.authorization.k8s.io", kCreateOnUpdate},
    {"rolebindings.rbac.authorization.k8s.io", kCreateOnUpdate},
    {"roles.rbac.authorization.k8s.io", kCreateOnUpdate},
    {"deviceclasses.resource.k8s.io", kGeneration | kReturnsDeleted},
    {"resourceclaims.resource.k8s.io", kReturnsDeleted},
    {"resourceclaimtemplates.resource.k8s.io", kReturnsDeleted},
    {"resourceslices.resource.k8s.io", kGeneration | kReturnsDeleted},
    {"priorityclasses.scheduling.k8s.io", kGeneration},
    {"csidrivers.storage.k8s.io", kNeedsVersion | kReturnsDeleted},
    {"csinodes.storage.k8s.io", kNeedsVersion | kReturnsDeleted},
    {"csistoragecapacities.storage.k8s.io", kNeedsVersion},
    {"storageclasses.storage.k8s.io", kReturnsDeleted},
    {"volumeattachments.storage.k8s.io", kNeedsVersion | kReturnsDeleted},
    {"volumeattributesclasses.storage.k8s.io", kReturnsDeleted},
};

}  // namespace

Traits TraitsOf(const meta::GroupResource& resource) {
  const std::string name = resource.ToString();
  for (const Row& row : kRows) {
    if (row.resource != name) continue;
    return {.generation = (row.traits & kGeneration) != 0,
            .needs_version = (row.traits & kNeedsVersion) != 0,
            .create_on_update = (row.traits & kCreateOnUpdate) != 0,
            .returns_deleted_object = (row.traits & kReturnsDeleted) != 0,
            .not_enforced = (row.traits & kNotEnforced) != 0};
  }
  return {};
}

}  // namespace apimesh::core_api
