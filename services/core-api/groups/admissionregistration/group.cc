#include "services/core-api/groups/admissionregistration/admissionpolicy/admissionpolicy.h"
#include "services/core-api/groups/admissionregistration/admissionpolicybinding/admissionpolicybinding.h"
#include "services/core-api/groups/admissionregistration/webhookconfiguration/webhookconfiguration.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/resources/other_version.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AdmissionRegistrationGroup(const KindInputs& inputs) {
  const registry::Resource policy = MutatingAdmissionPolicyResource(inputs);
  const registry::Resource binding = MutatingAdmissionPolicyBindingResource(inputs);
  return {
      policy,
      InVersion(policy, "v1beta1"),
      InVersion(policy, "v1alpha1"),
      binding,
      InVersion(binding, "v1beta1"),
      InVersion(binding, "v1alpha1"),
      MutatingWebhookConfigurationResource(inputs),
      ValidatingAdmissionPolicyResource(inputs),
      ValidatingAdmissionPolicyBindingResource(inputs),
      ValidatingWebhookConfigurationResource(inputs),
  };
}

}  // namespace apimesh::core_api
