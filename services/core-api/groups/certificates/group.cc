#include "services/core-api/groups/certificates/group.h"

#include "services/core-api/groups/certificates/certificatesigningrequest/certificatesigningrequest.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CertificatesGroup() { return {CertificateSigningRequestResource()}; }

}  // namespace apimesh::core_api
