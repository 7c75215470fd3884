#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/certificates/certificatesigningrequest/certificatesigningrequest.h"
#include "services/core-api/groups/certificates/clustertrustbundle/clustertrustbundle.h"
#include "services/core-api/groups/certificates/podcertificaterequest/podcertificaterequest.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/other_version.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CertificatesGroup(const KindInputs& inputs) {
  std::vector<registry::Resource> resources = {CertificateSigningRequestResource(inputs)};
  if (inputs.features.Enabled(features::kClusterTrustBundle)) {
    resources.push_back(ClusterTrustBundleResource(inputs));
    resources.push_back(InVersion(resources.back(), "v1alpha1"));
  }
  if (inputs.features.Enabled(features::kPodCertificateRequest))
    resources.push_back(PodCertificateRequestResource(inputs));
  return resources;
}

}  // namespace apimesh::core_api
